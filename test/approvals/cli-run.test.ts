/** `sidestick run` of an agent where policy asks: a real hub, host and shell, and a person who decides. */
import { existsSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import type { ApprovalRequest } from "../../src/client/sidestick.ts";
import { eventually } from "../support/eventually.ts";
import { tokenOf } from "../support/hub.ts";
import { type CliResult, runCli } from "../support/run-cli.ts";
import { JudgedHub } from "./judged-hub.ts";

let hub: JudgedHub;
let token: string;
beforeAll(async () => {
  hub = await JudgedHub.open();
  token = await tokenOf(hub.dataDir, "agent", "cli-agent");
  return hub.stop;
});

/** What the agent runs, and the question that it leads to. */
async function running(
  ...args: string[]
): Promise<{ readonly asked: ApprovalRequest; readonly ended: Promise<CliResult> }> {
  const conversation = hub.conversation();
  const words = ["run", "--conversation", conversation, "--url", hub.url, "--no-stdin", ...args];
  const ended = runCli(words, { env: { SIDESTICK_TOKEN: token } });
  const asked = await eventually(async () => {
    const pending = await hub.person.approval.list({ status: "pending" });
    const found = pending.find((it) => it.payload["conversationId"] === conversation);
    expect(found).toBeDefined();
    return found!;
  });
  return { asked, ended };
}

test("[APR-21] it waits for the decision, and ends as the command does; the person has read why", async () => {
  const { asked, ended } = await running(
    "--reason",
    "a mark is needed",
    `touch ${hub.path("cli")}; echo made; (exit 3)`,
  );

  await hub.approve(asked);

  const { code, stdout, stderr } = await ended;
  expect(asked.payload["agentSays"]).toBe("a mark is needed");
  expect(stderr).toContain(`A person is asked to approve this: sidestick approvals get ${asked.requestId}\n`);
  expect([code, stdout]).toEqual([3, "made\n"]);
});

test("[APR-21] it says what a person changed", async () => {
  const { asked, ended } = await running(`touch ${hub.path("cli-asked")}`);

  const edit = { command: "echo instead" };
  await hub.person.approval.resolve({ requestId: asked.requestId, status: "approved", edit });

  const { code, stdout, stderr } = await ended;
  expect(stderr).toContain("A person changed it: echo instead\n");
  expect([code, stdout]).toEqual([0, "instead\n"]);
});

test("[APR-21] rejected, it says by whom and why, and ends with 125", async () => {
  const made = hub.path("cli-rejected");
  const { asked, ended } = await running(`touch ${made}`);

  await hub.person.approval.resolve({ requestId: asked.requestId, status: "rejected", reason: "not today" });

  const { code, stderr } = await ended;
  expect(stderr).toContain("sidestick: operator rejected it: not today. ");
  expect([code, existsSync(made)]).toEqual([125, false]);
});
