/** Threads of chats at a real hub. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { codeOf } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { spawnTestHub } from "../support/hub.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { clientOf, endHostAfterTest, openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";
import { asking, fallsSilent, pendingIn, prints, started, waits } from "./asking-hub.ts";

let hub: TerminalHub;
beforeAll(async () => {
  const opened = await openTerminalHub({ pace: { planMs: 100 } });
  hub = opened;
  return opened.stop;
});

test("[CNV-20, CNV-2] Thread isolation: a thread finds its session and no other, also after a restart", async () => {
  const dataDir = await temporaryDirectory();
  endHostAfterTest(dataDir);
  const first = await spawnTestHub(dataDir, [], "terminal-hub");
  const [agent, person] = [await clientOf(first.url, dataDir, "agent"), await clientOf(first.url, dataDir, "operator")];
  const one = await started(agent, "cat");
  const two = await started(agent, "cat");
  await person.conversation.bind({ channel: "chat", thread_id: "1", session_id: one.sessionId });
  await person.conversation.bind({ channel: "chat", thread_id: "2", session_id: two.sessionId });
  const refused = await codeOf(agent.conversation.resolve({ channel: "chat", thread_id: "1" }));
  await first.kill("SIGKILL");
  const next = await spawnTestHub(dataDir, [], "terminal-hub");
  const after = await clientOf(next.url, dataDir, "operator");

  const found = await after.conversation.resolve({ channel: "chat", thread_id: "2" });
  const elsewhere = await codeOf(after.conversation.resolve({ channel: "other", thread_id: "2" }));
  await after.session.close({ sessionId: two.sessionId });

  expect([refused, found.session_id, elsewhere]).toEqual(["forbidden", two.sessionId, "not_found"]);
  const thread = { channel: "chat", thread_id: "2" };
  await eventually(async () => expect(await codeOf(after.conversation.resolve(thread))).toBe("not_found"));
  expect(await after.conversation.unbind({ session_id: one.sessionId })).toEqual({ ok: true, unbound: 1 });
});

test("[CNV-4] of a session that all threads had left nothing is left when it ends", async () => {
  const [one, two] = [await started(hub.agent, "cat"), await started(hub.agent, "cat")];
  const thread = { channel: "chat", thread_id: "left" };
  await hub.person.conversation.bind({ ...thread, session_id: one.sessionId });
  await hub.person.conversation.bind({ ...thread, session_id: two.sessionId });

  await hub.person.session.close({ sessionId: one.sessionId });

  const ended = { type: "conversation.ended", sessionId: one.sessionId };
  await eventually(async () => {
    const told = await hub.person.event.list({ types: ["conversation"] });
    expect(told.map(({ payload }) => payload)).toContainEqual(ended);
  });
  expect((await hub.person.conversation.resolve(thread)).session_id).toBe(two.sessionId);
});

test("[CNV-21] a conversation streams, waits for an answer and runs on as its session does", async () => {
  const thread = { channel: "chat", thread_id: "state" };
  const state = async () => (await hub.person.conversation.resolve(thread)).state;
  const enough = join(await temporaryDirectory(), "enough");
  const it = await asking(hub, `read -p 'Go? [Y/n] ' x; until [ -e ${enough} ]; do echo tick; sleep 0.1; done`);
  await hub.person.conversation.bind({ ...thread, session_id: it.sessionId });
  const { prompt_id, nonce } = it.prompt;
  const before = await state();

  await hub.person.prompt.reply({ prompt_id, nonce, value: "y" });

  await eventually(async () => expect(await state()).toBe("STREAMING"));
  await writeFile(enough, "");
  await fallsSilent(hub, it, "PROMPT");
  await eventually(async () => expect(await state()).toBe("RUNNING"));
  expect(before).toBe("AWAITING_INPUT");
});

test("[CNV-21] a thread that was elsewhere while its question was answered finds the session running", async () => {
  const thread = { channel: "chat", thread_id: "away" };
  const it = await asking(hub, "read -p 'Go? [Y/n] ' x; sleep 600");
  const other = await started(hub.agent, "cat");
  await hub.person.conversation.bind({ ...thread, session_id: it.sessionId });
  await hub.person.conversation.bind({ ...thread, session_id: other.sessionId });
  const { prompt_id, nonce } = it.prompt;
  await hub.person.prompt.reply({ prompt_id, nonce, value: "y" });

  const back = await hub.person.conversation.bind({ ...thread, session_id: it.sessionId });

  expect(back.state).toBe("RUNNING");
});

const PLAN = "Here is my plan:\\n\\n1. Add a test for the parser\\n2. Fix the parser\\n3. Run the tests\\n";

const KEYS = fileURLToPath(new URL("../fixtures/programs/keys.py", import.meta.url));
const CANCELLATION = "Cancel the current plan. Do not proceed with these steps.";
const lines = (read: string) => `while ${read} x; do echo "GOT $x"; done`;

/** An agent in a terminal, which tells a plan and then does something else, until it waits. */
async function planning(then: string, before: "INPUT" | "PROMPT" = "INPUT") {
  const it = await started(hub.agent, "true");
  await hub.person.conversation.bind({ channel: "chat", thread_id: it.conversation_id, session_id: it.sessionId });
  await waits(hub.agent, it, "PROMPT");
  // Whoever asks right behind a plan asks for a choice: on a busy machine that may come before the plan is told.
  const isTold = join(await temporaryDirectory(), "told");
  const command = `printf '${PLAN}'; until [ -e ${isTold} ]; do sleep 0.05; done; ${then}`;
  await hub.agent.pty.exec_interactive({ conversation_id: it.conversation_id, command });
  const [found] = await eventually(async () => {
    const plans = await hub.person.event.list({ sessionId: it.sessionId, types: ["plan"] });
    expect(plans).toHaveLength(1);
    return plans;
  });
  await writeFile(isTold, "");
  await waits(hub.agent, it, before);
  const payload = found?.payload as { planId: string; steps: string[] };
  return { ...it, plan_id: payload.planId, steps: payload.steps };
}

test.each([
  { decision: "execute", notice: "Plan accepted. Agent continuing." },
  { decision: "modify", notice: "Send your modifications as a message." },
] as const)("[PMT-87, PMT-85] Plan never injects on Execute: $decision types nothing", async ({ decision, notice }) => {
  const { plan_id, steps, sessionId } = await planning(lines("read -e"));

  const decided = await hub.person.plan.resolve({ plan_id, decision });
  const second = await hub.person.plan.resolve({ plan_id, decision: "cancel" }).catch((error: unknown) => error);

  expect(steps).toEqual(["Add a test for the parser", "Fix the parser", "Run the tests"]);
  expect(decided).toMatchObject({ decision, notice });
  expect(second).toMatchObject({ code: "approval_decided", details: { resolvedBy: "operator" } });
  expect(await hub.person.event.list({ sessionId, types: ["input"] })).toEqual([]);
});

test("[PMT-87, PMT-86] cancelling a plan types the cancellation, but never into a question", async () => {
  const free = await planning(lines("read -e"));
  const asked = await planning(lines("read -e x && read -p 'Proceed? [y/N] '"));
  await hub.agent.pty.send({ conversation_id: asked.conversation_id, data: "go on\r" });
  await pendingIn(hub.person, asked.sessionId);

  const cancelled = await hub.person.plan.resolve({ plan_id: free.plan_id, decision: "cancel" });
  const refused = await codeOf(hub.person.plan.resolve({ plan_id: asked.plan_id, decision: "cancel" }));

  expect([cancelled.notice, refused]).toEqual(["Plan cancelled.", "invalid_transition"]);
  await prints(hub.person, free, `GOT ${CANCELLATION}`);
  const inputs = await hub.person.event.list({ sessionId: asked.sessionId, types: ["input"] });
  expect(inputs.map(({ payload }) => payload["bytes"])).toEqual(["go on\r".length]);
});

test.each([
  { program: "a program that reads keys", seconds: 0 },
  { program: "one that is slow to read them", seconds: 0.6 },
])("[PMT-86] $program takes the cancellation for a line, not for a paste", async ({ seconds }) => {
  const it = await planning(`python3 ${KEYS} ${seconds}`);

  await hub.person.plan.resolve({ plan_id: it.plan_id, decision: "cancel" });

  await prints(hub.person, it, `GOT ${CANCELLATION}`);
});

test("[PMT-89] a Cancel that can't be typed decides nothing, which is told, and can be repeated", async () => {
  const it = await planning("true", "PROMPT");
  const { plan_id, sessionId, conversation_id } = it;

  const failed = await codeOf(hub.person.plan.resolve({ plan_id, decision: "cancel" }));
  const told = await hub.person.event.list({ sessionId, types: ["plan", "chat"] });
  await hub.person.pty.exec_interactive({ conversation_id, command: lines("read -e") });
  await waits(hub.person, it);
  const { notice } = await hub.person.plan.resolve({ plan_id, decision: "cancel" });

  expect([failed, notice]).toEqual(["shell_idle", "Plan cancelled."]);
  const [found, decided, again, said] = told.map(({ payload }) => payload);
  expect(decided).toEqual({ planId: plan_id, decision: "cancel", by: "operator" });
  expect(again).toEqual(found);
  expect(said?.["text"]).toBe(
    "Plan not cancelled. The shell is at its prompt: nothing runs that could read this. Nothing was sent.",
  );
  await prints(hub.person, it, `GOT ${CANCELLATION}`);
});
