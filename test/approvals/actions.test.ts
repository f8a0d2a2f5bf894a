/** What an agent wants to do is judged, asked about, and done once as it was approved. */
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import type { AppError } from "../../src/protocol/errors.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { codeOf } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { JudgedHub, POLICY } from "./judged-hub.ts";

let hub: JudgedHub;
beforeAll(async () => {
  hub = await JudgedHub.open();
  return hub.stop;
});

test("[APR-9] what is auto runs without a question", async () => {
  const { output } = await hub.agent.pty.exec_block({
    conversation_id: hub.conversation(),
    command: "echo free",
    wait_ms: WAIT_BUDGET_MS,
  });

  expect(output).toBe("free\n");
});

test("[APR-9] what is denied is refused with the rule, and nothing runs", async () => {
  const kept = await hub.write("kept", "");
  const call = hub.agent.pty.exec_block({
    conversation_id: hub.conversation(),
    command: `rm ${kept}`,
    wait_ms: WAIT_BUDGET_MS,
  });

  await expect(call).rejects.toMatchObject({
    code: "policy_denied",
    details: { rule: "no-rm", riskLevel: "critical", reason: "nothing is removed here" },
  });
  expect(existsSync(kept)).toBe(true);
});

test("[APR-9] a person's own command is not judged", async () => {
  const gone = await hub.write("gone", "");

  await hub.person.pty.exec_block({
    conversation_id: hub.conversation(),
    command: `rm ${gone}`,
    wait_ms: WAIT_BUDGET_MS,
  });

  expect(existsSync(gone)).toBe(false);
});

test("[APR-10] the card is ours: exact text with what would deceive shown, place, rule; the agent's words apart", async () => {
  const command = `touch ${hub.path("card")} # \u202Ex\u001B[2K`;
  const { approval, call } = await hub.asked(command, { reason: "please \u001B[31m approve" });

  expect(approval).toMatchObject({
    kind: "tool",
    action: "exec",
    riskLevel: "high",
    rule: "asks",
    requestedBy: "agent",
  });
  expect(approval.epoch).toBeGreaterThan(0);
  expect(approval.contextHash).toMatch(/^[0-9a-f]{64}$/);
  expect(approval.payload).toMatchObject({
    command: `touch ${hub.path("card")} # \\u{202e}x\\u{1b}[2K`,
    cwd: expect.stringMatching(/^\//) as string,
    reason: "leaves something behind",
    parts: expect.arrayContaining([expect.objectContaining({ decision: "ask", rule: "asks" })]) as object[],
    agentSays: "please \\u{1b}[31m approve",
    policyVersion: expect.any(String) as string,
  });
  await hub.person.approval.resolve({ requestId: approval.requestId, status: "rejected" });
  expect(await codeOf(call)).toBe("approval_rejected");
});

test("[APR-12] nothing runs before the decision; then the call goes on as if it had not been asked", async () => {
  const made = hub.path("made");
  const { approval, call } = await hub.asked(`touch ${made}; echo done`);
  expect(existsSync(made)).toBe(false);

  const decided = await hub.approve(approval);

  expect(decided).toMatchObject({ status: "approved", approved: true, result: { outcome: "run" } });
  expect(await call).toMatchObject({ exit_code: 0, output: "done\n", approval_id: approval.requestId });
  expect(existsSync(made)).toBe(true);
  expect((await call) as object).not.toHaveProperty("edited");
});

test("[APR-15] a call without patience answers approval_pending; the action runs when it is approved", async () => {
  const made = hub.path("later");
  const conversation_id = hub.conversation();
  const call = hub.agent.pty.exec_block({ conversation_id, command: `touch ${made}; echo later`, wait_ms: 0 });
  const refusal = await call.catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: "approval_pending", status: 202, details: { rule: "asks" } });
  const { requestId } = (refusal as { details: { requestId: string } }).details;
  const waiting = hub.agent.approval.wait({ requestId });

  await hub.approve({ requestId });

  const { result } = await waiting;
  expect(result).toMatchObject({ outcome: "run", blockId: expect.any(String) as string });
  await hub.agent.pty.wait_for({ conversation_id, match: "PROMPT", timeout_ms: WAIT_BUDGET_MS });
  const { blockId: block_id } = result as { blockId: string };
  expect((await hub.agent.pty.read_output({ conversation_id, block_id })).data).toBe("later\n");
});

test("[APR-15] waiting for a decision that doesn't come answers it as it is", async () => {
  const { approval, call } = await hub.asked(`touch ${hub.path("never")}`);

  expect(await hub.agent.approval.wait({ requestId: approval.requestId, wait_ms: 50 })).toMatchObject({
    status: "pending",
  });
  await hub.person.approval.resolve({ requestId: approval.requestId, status: "rejected", reason: "no need" });
  await expect(call).rejects.toMatchObject({
    code: "approval_rejected",
    details: { requestId: approval.requestId, resolvedBy: "operator", reason: "no need" },
  });
});

test("[APR-16] nobody decides: the call ends with approval_expired, and nothing ran", async () => {
  const { call } = await hub.asked(`touch -c ${hub.path("expired")}`);

  expect(await codeOf(call)).toBe("approval_expired");
});

test.each([
  { how: "STOP_NOW", code: "stopped", reason: "stopped" },
  { how: "take", code: "revoked", reason: "revoked" },
  { how: "close", code: "invalid_transition", reason: "session_closed" },
] as const)("[APR-16, APR-17] $how ends what is pending, and the call with it", async ({ how, code, reason }) => {
  const made = hub.path(`ended-${how}`);
  const { approval, call } = await hub.asked(`touch ${made}`);
  const { sessionId, requestId } = approval;

  if (how === "STOP_NOW") await hub.person.control.user_intent({ sessionId, intent: "STOP_NOW" });
  else if (how === "take") await hub.person.control.take({ sessionId });
  else await hub.person.session.close({ sessionId });

  expect(await codeOf(call)).toBe(code);
  const ended = await hub.person.approval.get({ requestId });
  expect(ended).toMatchObject({ status: "rejected", approved: false, resolvedBy: "system", reason });
  expect(await codeOf(hub.approve({ requestId }))).toBe("approval_decided");
  expect(existsSync(made)).toBe(false);
});

test("[APR-18] an edit is what runs, and the agent is told", async () => {
  const [asked, edited] = [hub.path("asked"), hub.path("edited")];
  const { approval, call } = await hub.asked(`touch ${asked}`);

  const decided = await hub.person.approval.resolve({
    requestId: approval.requestId,
    status: "approved",
    edit: { command: `touch ${edited}` },
  });

  expect(await call).toMatchObject({ exit_code: 0, edited: `touch ${edited}` });
  expect([existsSync(asked), existsSync(edited)]).toEqual([false, true]);
  expect(decided.edit).toEqual({ command: `touch ${edited}` });
  expect(decided.contextHash).not.toBe(approval.contextHash);
});

test("[APR-18] an edit that policy denies is refused, and the approval stays pending", async () => {
  const kept = await hub.write("kept-2", "");
  const { approval, call } = await hub.asked(`touch ${hub.path("unedited")}`);
  const { requestId } = approval;

  const edit = { command: `rm ${kept}` };
  expect(await codeOf(hub.person.approval.resolve({ requestId, status: "approved", edit }))).toBe("policy_denied");

  expect((await hub.person.approval.get({ requestId })).status).toBe("pending");
  await hub.approve({ requestId });
  expect(await call).toMatchObject({ exit_code: 0 });
  expect(existsSync(kept)).toBe(true);
});

test("[APR-18] only what is approved can be edited, and only a command", async () => {
  const { approval, call } = await hub.asked(`touch ${hub.path("not-edited")}`);
  const { requestId } = approval;
  const { requestId: plain } = await hub.agent.approval.request({ kind: "plan", payload: { steps: 3 } });

  const edit = { command: "true" };
  expect(await codeOf(hub.person.approval.resolve({ requestId, status: "rejected", edit }))).toBe("invalid_request");
  expect(await codeOf(hub.person.approval.resolve({ requestId: plain, status: "approved", edit }))).toBe(
    "invalid_request",
  );
  await hub.person.approval.resolve({ requestId, status: "rejected" });
  expect(await codeOf(call)).toBe("approval_rejected");
});

test("[APR-19] a rule can have the session paused when nobody answers", async () => {
  const { approval, call } = await hub.asked(`mkdir ${hub.path("paused")}`);

  expect(await codeOf(call)).toBe("approval_expired");
  const { sessionId } = approval;
  await eventually(async () => expect((await hub.person.session.get({ sessionId })).status).toBe("paused"));
});

test("[APR-19] a rule can have it asked again, as an escalation with a day's time", async () => {
  const made = hub.path("escalated");
  const { approval, call } = await hub.asked(`mkfifo ${made}`);

  const refusal = await call.catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: "approval_expired", details: { escalatedTo: expect.any(String) as string } });
  const again = await eventually(async () => {
    const pending = await hub.person.approval.list({ status: "pending", sessionId: approval.sessionId });
    expect(pending).toHaveLength(1);
    return pending[0]!;
  });
  expect(again).toMatchObject({ kind: "escalation", rule: "escalating", timeoutMs: 86_400_000 });
  expect((refusal as AppError).details["escalatedTo"]).toBe(again.requestId);
  await hub.approve(again);
  await eventually(async () => expect(existsSync(made)).toBe(true));
});

test("[APR-20] another command of the conversation waits behind it, one of another doesn't", async () => {
  const { approval, call, conversation_id } = await hub.asked(`touch ${hub.path("front")}`);

  const elsewhere = await hub.agent.pty.exec_block({
    conversation_id: hub.conversation(),
    command: "echo elsewhere",
    wait_ms: WAIT_BUDGET_MS,
  });
  expect(elsewhere.output).toBe("elsewhere\n");
  await expect(hub.agent.pty.exec_block({ conversation_id, command: "echo hasty" })).rejects.toMatchObject({
    code: "approval_pending",
    details: { requestId: approval.requestId, behind: true },
  });
  expect(await codeOf(hub.agent.pty.exec_block({ conversation_id, command: "rm x" }))).toBe("policy_denied");
  const patient = hub.agent.pty.exec_block({ conversation_id, command: "echo patient", wait_ms: WAIT_BUDGET_MS });
  await hub.person.approval.resolve({ requestId: approval.requestId, status: "rejected" });
  expect(await codeOf(call)).toBe("approval_rejected");
  expect((await patient).output).toBe("patient\n");
});

test("[APR-12] a script that was changed since is not run", async () => {
  const ran = hub.path("script-ran");
  const script = await hub.write("script.sh", `echo good > ${ran}\n`);
  const { approval, call } = await hub.asked(`sh ${script}`);

  await hub.write("script.sh", `echo evil > ${ran}\n`);
  const decided = await hub.approve(approval);

  expect(decided.result).toMatchObject({ outcome: "not_run", code: "approval_stale" });
  await expect(call).rejects.toMatchObject({
    code: "approval_stale",
    details: { changed: [expect.stringContaining("script")] },
  });
  expect(existsSync(ran)).toBe(false);
});

test("[APR-14] an approval says afterwards that it was violated", async () => {
  const script = await hub.write("self.sh", "echo >> $0\n");
  const { approval, call } = await hub.asked(`sh ${script}`);
  const { requestId } = approval;

  await hub.approve(approval);

  expect(await call).toMatchObject({ exit_code: 0 });
  const violated = [{ what: expect.stringMatching(/^script:/) as string, path: script }];
  await eventually(async () =>
    expect((await hub.agent.approval.get({ requestId })).result).toMatchObject({ outcome: "run", violated }),
  );
});

test("[APR-11, APR-12] what was asked about under another policy is not run", async () => {
  const apart = await JudgedHub.open();
  onTestFinished(apart.stop);
  const made = apart.path("other-policy");
  const { approval, call } = await apart.asked(`touch ${made}`);
  const versionOf = async () => (await apart.person.policy.get()).global.version;
  const before = await versionOf();

  await writeFile(
    `${apart.dataDir}/policy.yaml`,
    `${POLICY}\n  - {id: more, command: date, decision: ask, reason: more}\n`,
  );
  await eventually(async () => expect(await versionOf()).not.toBe(before));
  const decided = await apart.approve(approval);

  expect(decided.result).toMatchObject({ outcome: "not_run", code: "approval_stale", changed: ["policy"] });
  expect(await codeOf(call)).toBe("approval_stale");
  expect(existsSync(made)).toBe(false);
});

test("[POL-8, APR-9] what an agent types into a shell is asked about; what it types into a program isn't", async () => {
  const conversation_id = hub.conversation();
  await hub.agent.pty.exec_interactive({ conversation_id, command: "cat", wait_ms: 0 });
  await hub.agent.pty.wait_for({ conversation_id, match: "INPUT", timeout_ms: WAIT_BUDGET_MS });
  await hub.agent.pty.send({ conversation_id, data: "to cat\r" });
  await hub.agent.pty.ctrl_c({ conversation_id });
  await hub.agent.pty.wait_for({ conversation_id, match: "PROMPT", timeout_ms: WAIT_BUDGET_MS });
  await hub.agent.pty.exec_interactive({ conversation_id, command: "bash --norc -i" });
  await hub.agent.pty.wait_for({ conversation_id, match: "INPUT", timeout_ms: WAIT_BUDGET_MS });

  const typed = hub.agent.pty.send({ conversation_id, data: "\u001B[A", reason: "the last command again" });

  await expect(typed).rejects.toMatchObject({ code: "approval_pending", details: { rule: "typed" } });
  const command = hub.agent.pty.send({ conversation_id, data: `touch ${hub.path("typed")}\r` });
  const refusal = await command.catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: "approval_pending", details: { rule: "asks" } });
  await hub.approve((refusal as { details: { requestId: string } }).details);
  await eventually(async () => expect(existsSync(hub.path("typed"))).toBe(true));
});

test("[APR-18] what is typed can't be edited: nothing else than what was asked is ever typed", async () => {
  const conversation_id = hub.conversation();
  await hub.agent.pty.exec_interactive({ conversation_id, command: "bash --norc -i" });
  await hub.agent.pty.wait_for({ conversation_id, match: "INPUT", timeout_ms: WAIT_BUDGET_MS });
  const made = hub.path("typed-not-edited");
  const refusal: unknown = await hub.agent.pty.send({ conversation_id, data: `touch ${made}\r` }).catch((it) => it);
  const { requestId } = (refusal as { details: { requestId: string } }).details;

  const edit = { command: "true" };

  expect(await codeOf(hub.person.approval.resolve({ requestId, status: "approved", edit }))).toBe("invalid_request");
  expect(await hub.person.approval.get({ requestId })).toMatchObject({ status: "pending", action: "exec" });
  await hub.person.approval.resolve({ requestId, status: "rejected" });
  expect(existsSync(made)).toBe(false);
});

test("[APR-9] nobody is asked about keys for a shell that is idle: they are refused at once", async () => {
  const conversation_id = hub.conversation();
  await hub.agent.pty.exec_block({ conversation_id, command: "true", wait_ms: WAIT_BUDGET_MS });

  expect(await codeOf(hub.agent.pty.send({ conversation_id, data: "touch x" }))).toBe("shell_idle");
});

test("[APR-10] what is not shown letter by letter says so", async () => {
  const plain = await hub.asked(`touch ${hub.path("plain")}`);
  const masked = await hub.asked(`touch ${hub.path("masked")} # password=hunter2-5e1f`);

  expect(plain.approval.payload).not.toHaveProperty("exact");
  expect(masked.approval.payload["exact"]).toBe(false);
  await hub.person.approval.resolve({ requestId: plain.approval.requestId, status: "rejected" });
  await hub.person.approval.resolve({ requestId: masked.approval.requestId, status: "rejected" });
  expect(await Promise.all([codeOf(plain.call), codeOf(masked.call)])).toEqual(Array(2).fill("approval_rejected"));
});

test("[APR-22] a secret in a command is in no event and no audit line", async () => {
  const secret = "hunter2-0f2c7d1e9a";
  const { approval, call } = await hub.asked(`touch ${hub.path("x")} # password=${secret}`);
  await hub.person.approval.resolve({ requestId: approval.requestId, status: "rejected" });
  expect(await codeOf(call)).toBe("approval_rejected");

  const events = JSON.stringify(await hub.person.event.list({ sessionId: approval.sessionId }));
  expect(events).toContain("password=");
  expect(events).not.toContain(secret);
  expect(readFileSync(`${hub.dataDir}/audit.jsonl`, "utf8")).not.toContain(secret);
});
