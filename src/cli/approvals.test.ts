import { expect, test } from "vitest";
import { answering, refusing, serveAtSocket } from "../../test/support/answering-hub.ts";
import { runCliHere, runOnTerminal } from "../../test/support/run-cli.ts";

const requestId = "0199a1b2-0000-7000-8000-000000000001";

test.each([
  { details: { resolvedBy: "root", decision: "approved", reason: "go ahead" }, told: "root approved it: go ahead." },
  { details: { resolvedBy: "system", decision: "rejected" }, told: "system rejected it." },
  { details: { resolvedBy: "root" }, told: "root decided it." },
  { details: {}, told: "Somebody decided first." },
])("[CLI-17] who comes second is told: $told", async ({ details, told }) => {
  const dataDir = await serveAtSocket(refusing("approval_decided", { requestId, ...details }));

  const { code, stderr } = await runCliHere(["deny", requestId, "--data-dir", dataDir]);

  const remedy = `The first decision stands; see: sidestick approvals get ${requestId}`;
  expect([code, stderr]).toEqual([1, `sidestick: ${told} ${remedy}\n`]);
});

const asked = {
  requestId,
  sessionId: "00000000-0000-0000-0000-000000000000",
  kind: "tool",
  payload: { command: `rm -rf build\u001b[2J${"x".repeat(300)}` },
  action: "run",
  riskLevel: "medium",
  requestedBy: "bot",
  requestedAt: "2026-01-01T00:00:00.000Z",
  expiresAt: "2026-01-01T00:05:00.000Z",
};

test.each([
  { outcome: { status: "pending" }, state: "pending, 0s left" },
  { outcome: { status: "approved", resolvedBy: "root" }, state: "approved by root" },
  { outcome: { status: "rejected", resolvedBy: "ann", reason: "not\ntoday" }, state: "rejected by ann: not\\ntoday" },
  { outcome: { status: "expired" }, state: expect.stringMatching(/^expired \d+d ago$/) as string },
])("[CLI-18] the list says what is asked, by whom, and that it is $outcome.status", async ({ outcome, state }) => {
  const dataDir = await serveAtSocket(answering([{ ...asked, ...outcome }]));

  const { stdout } = await runCliHere(["approvals", "--data-dir", dataDir]);

  const [id, told, by, , action, payload = ""] = stdout.trimEnd().split("\n")[1]?.split(/ {2,}/) ?? [];
  expect([id, told, by, action]).toEqual([requestId.slice(0, 8), state, "bot", "run"]);
  expect(payload).toMatch(/^\{"command":"rm -rf build\\u001b\[2Jx+…$/);
  expect(payload).toHaveLength(200);
});

test("[CLI-18] on a terminal no column is cut for the sake of a wider one", async () => {
  const dataDir = await serveAtSocket(answering([{ ...asked, status: "approved", resolvedBy: "root" }]));

  const { stdout } = await runOnTerminal(["approvals", "--data-dir", dataDir], { cols: 80 });

  expect(stdout).toMatch(/^\w{8} {2}approved by root {2}bot {2}\d+d {2}run {5}\{"command":"rm -rf build.*…\r?$/m);
});

test("[CLI-18] get shows every field, and the payload to its end", async () => {
  const dataDir = await serveAtSocket(answering({ ...asked, status: "pending" }));

  const { stdout } = await runCliHere(["approvals", "get", requestId, "--data-dir", dataDir]);

  expect(stdout).toMatch(/^status {7}pending$/m);
  expect(stdout).toMatch(/^sessionId {4}none$/m);
  expect(stdout).toMatch(/^expiresAt {4}2026-01-01T00:05:00.000Z \(0s left\)$/m);
  expect(JSON.parse(stdout.slice(stdout.indexOf("\npayload\n") + "\npayload\n".length))).toEqual(asked.payload);
  expect(/[^\n\P{C}]/u.test(stdout)).toBe(false);
});
