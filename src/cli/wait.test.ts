/** What `wait`, `send` and their kin ask of a hub, and what they make of its answers. */
import { once } from "node:events";
import type { IncomingMessage, RequestListener } from "node:http";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { answering, serveAtSocket } from "../../test/support/answering-hub.ts";
import { runCliHere, startCli } from "../../test/support/run-cli.ts";

const sessionId = "0199a1b2-0000-7000-8000-000000000001";
const session = { sessionId, kind: "terminal", status: "active", conversationId: "build" };
const place = { ok: true, workspace_session_id: sessionId };

type Asked = Readonly<Record<string, unknown>>;
type Answer = (asked: Asked, count: number, request: IncomingMessage) => object | undefined;

/** A hub with one terminal; `answer` says what a wait is told, or nothing for as long as it likes. */
async function hubWith(answer: Answer): Promise<{ dataDir: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const serve = async (...[request, response]: Parameters<RequestListener>): Promise<void> => {
    if (!(request.url ?? "").startsWith("/pty/")) return answering([session])(request, response);
    const body = (await json(request)) as Asked;
    const told = answer(body, asked.push(body), request);
    if (told !== undefined) answering({ ...place, ...told })(request, response);
  };
  const listener: RequestListener = (request, response) => void serve(request, response);
  return { dataDir: await serveAtSocket(listener), asked };
}

test("[TCL-15] it goes on over pending, from where the answer says", async () => {
  const pending = { matched: false, reason: "pending", pending: true, cursor: 70, position: 9 };
  const matched = { matched: true, reason: "match", which: 1, match_text: "done", cursor: 90, position: 12 };
  const { dataDir, asked } = await hubWith((_asked, count) => (count < 3 ? pending : matched));

  const wait = ["wait", "build", "--match", "a", "--regex", "d.ne", "--from-cursor", "5", "--timeout", "90"];
  const { code, stdout } = await runCliHere([...wait, "--data-dir", dataDir]);

  expect([code, stdout]).toEqual([0, "done\n"]);
  const conditions = [
    { match: "a", match_type: "substring" },
    { match: "d.ne", match_type: "regex" },
  ];
  const timeout_ms = expect.any(Number) as number;
  const later = { conversation_id: "build", conditions, from_cursor: 70, from_position: 9, timeout_ms };
  expect(asked).toEqual([{ conversation_id: "build", conditions, from_cursor: 5, timeout_ms }, later, later]);
});

test("[TCL-15] a hub that goes away during the wait is waited for", async () => {
  const matched = { matched: true, reason: "match", which: 0, exit_code: 0, cursor: 90, position: 12 };
  const { dataDir } = await hubWith((_asked, count, request) => {
    if (count === 1) request.socket.destroy();
    return count === 1 ? undefined : matched;
  });

  const { code, stdout, stderr } = await runCliHere(["wait", "build", "--prompt", "--data-dir", dataDir]);

  expect([code, stdout]).toEqual([0, "PROMPT 0\n"]);
  expect(stderr).toBe("The hub is away; waiting for it …\nThe hub is back.\n");
});

test.each([
  { reason: "timeout", code: 124 },
  { reason: "closed", code: 5 },
  { reason: "revoked", code: 6 },
])("[TCL-16] $reason ends with $code", async ({ reason, code }) => {
  const { dataDir } = await hubWith(() => ({ matched: false, reason, cursor: 1, position: 1 }));

  const plain = await runCliHere(["wait", "build", "--eof", "--data-dir", dataDir]);
  const answer = await runCliHere(["wait", "build", "--eof", "--json", "--data-dir", dataDir]);

  expect([plain.code, plain.stdout, answer.code]).toEqual([code, "", code]);
  expect(JSON.parse(answer.stdout)).toEqual({ ...place, matched: false, reason, cursor: 1, position: 1 });
});

test("[TCL-16] Ctrl+C ends it with 130", async () => {
  const asked = Promise.withResolvers<void>();
  const { dataDir } = await hubWith(() => {
    asked.resolve();
    return undefined;
  });
  const child = startCli(["wait", "build", "--input", "--data-dir", dataDir]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit");

  await asked.promise;
  child.kill("SIGINT");

  expect(await exited).toEqual([130, null]);
});

test("[TCL-15] what it prints of a match does nothing to a terminal", async () => {
  const match_text = "a\u001b[2Jb\nc";
  const { dataDir } = await hubWith(() => ({
    matched: true,
    reason: "match",
    which: 0,
    match_text,
    cursor: 1,
    position: 1,
  }));

  expect((await runCliHere(["wait", "build", "--match", "a", "--data-dir", dataDir])).stdout).toBe("a\\e[2Jb\nc\n");
});

test.each([
  { args: ["wait", "c"], told: "What for? Give --match" },
  { args: ["wait", "c", "--match", "x", "--timeout", "soon"], told: '--timeout is "soon", but should be a time' },
  { args: ["wait", "c", "--idle", "x"], told: '--idle is "x", but should be a whole number' },
  { args: ["send", "c", "--text", "a", "--keys", "Up"], told: "Give --text or --keys, not both." },
  { args: ["run", "--new", "--conversation", "c", "ls"], told: "--new makes a conversation of its own" },
  { args: ["run", "--", " "], told: "The command is empty." },
  { args: ["run"], told: '"run" needs <command...>.' },
  { args: ["run", "ls", "-l"], told: "Unknown option '-l'" },
  { args: ["attach", "c", "--detach-key", "x", "--read-only"], told: "should be a control key" },
])("[TCL-23] $args is a wrong command line, told before anything is done", async ({ args, told }) => {
  const { dataDir, asked } = await hubWith(() => ({}));

  const { code, stderr } = await runCliHere([...args.slice(0, 1), "--data-dir", dataDir, ...args.slice(1)]);

  expect([code, asked]).toEqual([2, []]);
  expect(stderr).toContain(told);
});

test("[TCL-17] text, Enter and keys are sent as they were given", async () => {
  const { dataDir, asked } = await hubWith(() => ({ bytes: 1, position: 4, cursor: 17 }));
  const send = (...args: string[]) => runCliHere(["send", "build", ...args, "--data-dir", dataDir]);

  const { stdout } = await send("--text", "yes", "--enter", "--if-prompt", "p.1");
  await send("--enter");
  await send("--keys", "C-c,comma,F5", "--enter");

  expect(stdout).toBe("17\n");
  expect(asked).toEqual([
    { conversation_id: "build", if_prompt: "p.1", data: "yes\r" },
    { conversation_id: "build", data: "\r" },
    { conversation_id: "build", keys: ["C-c", ",", "F5", "Enter"] },
  ]);
});
