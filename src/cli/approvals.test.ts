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
  {
    outcome: { status: "approved", resolvedBy: "ann", edit: { command: "x" }, result: { outcome: "not_run" } },
    state: "approved by ann, edited, not run",
  },
  {
    outcome: { status: "approved", resolvedBy: "ann", result: { outcome: "run", violated: [] } },
    state: "approved by ann, violated",
  },
  { outcome: { status: "expired" }, state: expect.stringMatching(/^expired \d+d ago$/) as string },
])("[CLI-18] the list says what is asked, by whom, and that it is $outcome.status", async ({ outcome, state }) => {
  const dataDir = await serveAtSocket(answering([{ ...asked, ...outcome }]));

  const { stdout } = await runCliHere(["approvals", "--data-dir", dataDir]);

  const [id, told, by, , , action, payload = ""] = stdout.trimEnd().split("\n")[1]?.split(/ {2,}/) ?? [];
  expect([id, told, by, action]).toEqual([requestId.slice(0, 8), state, "bot", "run"]);
  expect(payload).toMatch(/^\{"command":"rm -rf build\\u001b\[2Jx+…$/);
  expect(payload).toHaveLength(200);
});

test("[CLI-18] on a terminal no column is cut for the sake of a wider one (needs script)", async () => {
  const dataDir = await serveAtSocket(answering([{ ...asked, status: "approved", resolvedBy: "root" }]));

  const { stdout } = await runOnTerminal(["approvals", "--data-dir", dataDir], { cols: 80 });

  expect(stdout).toMatch(
    /^\w{8} {2}approved by root {2}bot {2}\d+d {2}medium {2}run {5}\{"command":"rm -rf build.*…\r?$/m,
  );
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

const command = {
  ...asked,
  sessionId: "3f2a9c01-0000-4000-8000-000000000001",
  status: "pending",
  action: "exec",
  riskLevel: "high",
  rule: "delete-outside",
  epoch: 3,
  containment: "open",
  payload: {
    command: "rm -r ../old\u202E",
    cwd: "/srv/app",
    reason: "it deletes outside the workspace",
    touches: [{ how: "delete", path: "/srv/old", place: "outside" }],
    programs: { "program:rm": "/usr/bin/rm", "script:x": "/srv/x" },
    unbound: [{ what: "environment", reason: "the shell doesn't tell" }],
    conversationId: "demo",
    agentSays: "approve\nthis",
  },
};

test("[APR-21] get shows a command as a card: what, where, why; the agent's words last, and fenced", async () => {
  const dataDir = await serveAtSocket(answering(command));

  const { stdout } = await runCliHere(["approvals", "get", requestId, "--data-dir", dataDir]);

  expect(stdout.replace(/time +.*/, "time")).toBe(
    [
      "bot wants to run in /srv/app:",
      "",
      "    rm -r ../old\\u{202e}",
      "",
      "risk     high, in an open session, which reaches all that you do",
      "rule     delete-outside: it deletes outside the workspace",
      "delete   /srv/old  (outside)",
      "program  rm: /usr/bin/rm",
      "unbound  environment: the shell doesn't tell",
      "time",
      "",
      "bot says (its own words):",
      "  │ approve",
      "  │ this",
      "",
    ].join("\n"),
  );
});

test.each([
  {
    result: { outcome: "run", blockId: "b1", seq: 4 },
    line: "approved by ann: it was started; see: sidestick output demo --block 4",
    exit: 0,
  },
  {
    result: { outcome: "not_run", code: "approval_stale", changed: ["script:./x"] },
    line: "approved by ann, but nothing was run: script ./x changed since it was asked",
    exit: 1,
  },
  {
    result: { outcome: "run", violated: [{ what: "script:./x", path: "/srv/x" }] },
    line: "approved by ann: it was started, and script ./x was touched while it ran",
    exit: 0,
  },
  {
    result: { outcome: "unknown", code: "unknown_outcome" },
    line: "approved by ann; whether it ran can't be known: look at the terminal",
    exit: 1,
  },
])("[APR-21] approving says what came of it: $line", async ({ result, line, exit }) => {
  const dataDir = await serveAtSocket(answering({ ...command, status: "approved", resolvedBy: "ann", result }));

  const { code, stderr } = await runCliHere(["approve", requestId, "--data-dir", dataDir]);

  expect([code, stderr]).toEqual([exit, `${line}\n`]);
});

test("[APR-21] at a terminal approving shows the card and asks; anything but yes decides nothing (needs script)", async () => {
  const decisions: string[] = [];
  const dataDir = await serveAtSocket((request, response) => {
    if (request.method === "POST") decisions.push(request.url ?? "");
    answering(request.url?.endsWith("/approvals") === true ? [command] : command)(request, response);
  });

  const no = await runOnTerminal(["approve", requestId, "--data-dir", dataDir], { until: "[y/N]", type: "n\r" });

  expect(no.stdout).toMatch(/rm -r \.\.\/old.*Approve\? \[y\/N\]/s);
  expect([no.code, decisions]).toEqual([1, []]);
  await runOnTerminal(["approve", requestId, "--data-dir", dataDir], { until: "[y/N]", type: "y\r" });
  expect(decisions).toHaveLength(1);
});

test("[APR-21] an edit is shown as a difference before it is approved", async () => {
  const bodies: string[] = [];
  const dataDir = await serveAtSocket((request, response) => {
    request.on("data", (chunk: Buffer) => bodies.push(chunk.toString()));
    const decided = { status: "approved", resolvedBy: "ann", edit: { command: "rm -r old" } };
    answering({ ...command, ...decided, result: { outcome: "run" } })(request, response);
  });

  const { stderr } = await runCliHere(["edit", requestId, "--command", "rm -r old", "--data-dir", dataDir]);

  expect(stderr).toBe("- rm -r ../old\\u{202e}\n+ rm -r old\napproved by ann, as edited: it was started\n");
  expect(JSON.parse(bodies.at(-1) ?? "")).toEqual({ status: "approved", edit: { command: "rm -r old" } });
});

test("[APR-21] what ended is shown with what was approved instead, and how it ended", async () => {
  const decided = { status: "approved", resolvedBy: "ann", edit: { command: "rm -r old" }, result: { outcome: "run" } };
  const dataDir = await serveAtSocket(answering({ ...command, ...decided }));

  const { stdout } = await runCliHere(["approvals", "get", requestId, "--data-dir", dataDir]);

  expect(stdout).toContain("\n    rm -r ../old\\u{202e}\n\napproved instead:\n\n    rm -r old\n\nrisk ");
  expect(stdout).toMatch(/\n\napproved by ann, as edited: it was started\n$/);
});

test("[APR-21] nobody's decision is told as that", async () => {
  const dataDir = await serveAtSocket(answering({ ...command, status: "expired", resolvedBy: "system" }));

  const { stdout } = await runCliHere(["approvals", "get", requestId, "--data-dir", dataDir]);

  expect(stdout).toMatch(/\nexpired: nobody decided in time \(rm -r .*, asked by bot\)\n$/);
});

const typed = { ...command, action: "opaque_send", payload: { command: "yes\n", program: "bash" } };

test("[APR-21] what is typed is shown as that, with its Enter; what is asked again says so", async () => {
  const dataDir = await serveAtSocket(answering({ ...typed, kind: "escalation" }));

  const { stdout } = await runCliHere(["approvals", "get", requestId, "--data-dir", dataDir]);

  expect(stdout).toMatch(/^bot wants to type into bash:\n\n {4}yes ⏎\n\n/);
  expect(stdout).toContain("\nagain    nobody decided in time when it was asked first\n");
});

test.each([
  { what: "what is typed", approval: typed, option: ["--command", "no"], told: "There is no command in it" },
  {
    what: "a text with masks, in an editor",
    approval: { ...command, payload: { ...command.payload, exact: false } },
    option: [],
    told: "It is shown with masks or signs",
  },
])("[APR-18] $what can't be edited, and nothing is decided", async ({ approval, option, told }) => {
  const asked: string[] = [];
  const dataDir = await serveAtSocket((request, response) => {
    asked.push(request.method ?? "");
    answering(approval)(request, response);
  });

  const { code, stderr } = await runCliHere(["edit", requestId, ...option, "--data-dir", dataDir]);

  expect([code, stderr]).toEqual([2, expect.stringContaining(told)]);
  expect(asked).toEqual(["GET"]);
});
