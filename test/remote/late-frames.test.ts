/** A host's answers and its frames go different ways: an answer may be here first. */
import { expect, onTestFinished, test } from "vitest";
import type { HubMessage } from "../../src/protocol/link.ts";
import { openTestHub, operatorClient } from "../support/hub.ts";
import { enrolLight, LightHost } from "../support/light-host.ts";
import { seen } from "../support/remote-host.ts";

const HERE = { conversation_id: "c" };

/** Its shell is idle when it is asked, and the end of the block comes when it is let go. */
class LateHost extends LightHost {
  letGo = (): void => undefined;
  override onMessage = (message: HubMessage): void => {
    if (!("id" in message)) return;
    const { type, id } = message;
    if (type === "START_INTERACTIVE_CMD") return this.reply(id);
    if (type === "STATUS") {
      this.reply(id, { mode: "idle", shell: "/bin/sh", integration: "marks", cols: 80, rows: 24 });
      return void setTimeout(() => this.letGo(), 50);
    }
    if (type === "RUN_BLOCK") {
      const { session_id, block_id: blockId, by } = message;
      this.event(session_id, "agent_block_begin", { blockId, seq: 1, cmd: "x", cursor: 0 }, by);
      this.output(session_id, "out\r\nprompt$ ");
      this.letGo = () => this.event(session_id, "agent_block_end", { blockId, seq: 1, cursor: 5, exitCode: 0 });
      return this.reply(id, { seq: 1, cursor: 0, position: 1, began_at: Date.now() });
    }
    this.say({ type: "REPLY", id, ok: false, code: "not_found", detail: "no" });
  };
}

async function scene() {
  const hub = await openTestHub();
  onTestFinished(hub.stop);
  const person = operatorClient(hub.dataDir);
  const host = new LateHost(await enrolLight(hub.url, person, "late"));
  onTestFinished(() => host.close());
  await host.connect();
  await seen(person, "late", true);
  await person.workspace.put({ workspaceId: "late", hostId: "late", settings: { containment: "open" } });
  await person.session.create({ kind: "terminal", workspaceId: "late", conversationId: "c" });
  const { block_id } = await person.pty.exec_block({ ...HERE, command: "x" });
  return { person, host, block_id };
}

test("[TRM-22] who reads idle finds the block's end, and no prompt in its output", async () => {
  const { person, block_id } = await scene();

  const { mode } = await person.pty.status(HERE);
  const { data } = await person.pty.read_output({ ...HERE, block_id });

  expect([mode, data]).toEqual(["idle", "out\n"]);
});

test("[TRM-22] a block whose end doesn't come is told as running", async () => {
  const { person, host, block_id } = await scene();
  host.letGo = () => undefined;

  expect(await person.pty.status(HERE)).toMatchObject({ mode: "block_running", active_block_id: block_id });
});
