import { expect, onTestFinished, test } from "vitest";
import { WORKSPACE_STREAM } from "../../src/domain/event.ts";
import { Journal } from "../../src/hub/journal.ts";
import { WorkspaceDesk } from "../../src/hub/workspace-desk.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { temporaryDirectory } from "../support/temporary.ts";

test("[WSP-2, GRD-13] a workspace stored before there were settings of the guard has their defaults", async () => {
  const store = await openSqliteStore(await temporaryDirectory(), { now: () => Date.now() });
  onTestFinished(() => store.close());
  const settings = { agents_may_acquire: false };
  const payload = { workspaceId: "default", hostId: "local", limits: {}, settings };
  const stored = { type: "workspace", payload, source: { kind: "person", id: "ann" } } as const;
  await store.events.append(WORKSPACE_STREAM, "any", [stored], "process");
  const desk = new WorkspaceDesk(new Journal(store.events), "local");

  await desk.start();

  expect(desk.get("default").settings).toEqual({
    interactive_when: "viewer_with_input",
    max_interactive_commands: 1,
    agents_may_acquire: false,
    on_viewer: "revoke",
    agent_may_answer_passwords: false,
    while_streaming: "queue",
    show_raw_output: false,
    containment: "guard",
    grant_open: "allow",
    roots: [],
    guard_hidden: [],
    guard_shown: [],
    guard_read_only: [],
    guard_writable: [],
    guard_network: true,
  });
});
