import { afterAll, expect, test } from "vitest";
import { emulatedScreens as screens } from "../../test/support/emulated-screens.ts";
import { MemoryTape } from "../../test/support/memory-tape.ts";
import { DEADLINE_MS } from "../../test/support/deadline.ts";
import { eventually } from "../../test/support/eventually.ts";
import type { StoredEvent } from "../domain/event.ts";
import { Patterns } from "../lib/patterns.ts";
import { AppError } from "../protocol/errors.ts";
import { type Condition, type TapeReader, WaitDesk, type WaitRequest } from "./wait-desk.ts";

// What a pattern means doesn't hang on how busy the machine is.
const patterns = new Patterns({ deadlineMs: DEADLINE_MS });
afterAll(() => patterns.close());

type Options = Partial<WaitRequest> & { readonly keyframe?: StoredEvent };

function waitOn(tape: TapeReader, conditions: readonly Condition[], { keyframe, ...options }: Options = {}) {
  const desk = new WaitDesk({ tape, patterns, screens, keyframe: () => Promise.resolve(keyframe) });
  const request = {
    sessionId: "s",
    conditions,
    fromCursor: 0,
    fromPosition: 0,
    timeoutMs: DEADLINE_MS,
    budgetMs: DEADLINE_MS,
  };
  return desk.wait({ ...request, ...options }, new AbortController().signal);
}

const substring = (match: string): Condition => ({ type: "substring", match });
const regex = (match: string): Condition => ({ type: "regex", match });
const token = (name: "PROMPT" | "EOF" | "INPUT"): Condition => ({ type: "token", token: name });
const idle = (idleMs: number): Condition => ({ type: "token", token: "IDLE", idleMs });

test("[WAI-7] a substring is found as soon as its last byte is there, across chunks, colours and CRLF", async () => {
  const tape = new MemoryTape().output("x\x1b[1mpass").output("\x1b[0mwo").output("rd\r").output("\nök");
  const answer = await waitOn(tape, [substring("password\nö")]);
  expect(answer).toEqual({
    matched: true,
    which: 0,
    reason: "match",
    matchText: "password\nö",
    matchBegin: 5,
    cursor: 21,
    position: 0,
  });
});

test("[WAI-7] a substring that is cut inside a character is found with a cursor in bytes", async () => {
  const bytes = Buffer.from("größe 語: 😀!");
  const tape = new MemoryTape();
  for (const byte of bytes) tape.output(Uint8Array.of(byte));
  const answer = await waitOn(tape, [substring("語: 😀")]);
  expect(answer).toMatchObject({ matchBegin: 8, cursor: bytes.length - 1, matchText: "語: 😀" });
});

test("[WAI-7] what stands only in escape sequences is not found", async () => {
  const tape = new MemoryTape().output("\x1b]0;done\x07\x1b[31mx").end();
  expect(await waitOn(tape, [substring("done"), substring("31m")])).toMatchObject({ matched: false, reason: "closed" });
});

test("[WAI-7] a substring with CRLF means the same line end", async () => {
  const tape = new MemoryTape().output("a\r\nb");
  expect(await waitOn(tape, [substring("a\r\nb")])).toMatchObject({ matchText: "a\nb", cursor: 4 });
});

test("[WAI-8] of what is found at the same character the smallest end wins, then the order of the list", async () => {
  const tape = new MemoryTape().output("one two\n").fact("prompt", { kind: "shell" });
  expect(await waitOn(tape, [regex("two"), regex("one"), substring("two\n")])).toMatchObject({ which: 1, cursor: 3 });
  expect(await waitOn(tape, [substring("two"), substring("o")])).toMatchObject({ which: 1, cursor: 1 });
  expect(await waitOn(tape, [substring("wo"), substring("two")])).toMatchObject({ which: 0 });
  expect(await waitOn(tape, [token("PROMPT"), regex("one two\n")])).toMatchObject({ which: 0, cursor: 8 });
  expect(await waitOn(tape, [regex("one two\n"), token("PROMPT")])).toMatchObject({ which: 0, matchText: "one two\n" });
});

test("[WAI-8] a substring is decided before a regex whose line isn't over", async () => {
  const tape = new MemoryTape().output("one two").output("\n");
  expect(await waitOn(tape, [regex("one"), substring("two")])).toMatchObject({ which: 1, matchBegin: 4, cursor: 7 });
});

test("[WAI-9] a regex is tried at the end of a line, never at a chunk's end", async () => {
  const tape = new MemoryTape().output("count 1").output("2\r\nrest");
  const answer = await waitOn(tape, [regex(String.raw`count \d+`)]);
  expect(answer).toMatchObject({ matchText: "count 12", cursor: 8 });
});

test("[WAI-9] a regex is tried at quiet points, prompts and ends of blocks, where the text ends a line", async () => {
  const facts = [
    ["quiet", { ms: 30 }],
    ["prompt", { kind: "line" }],
    ["agent_block_end", {}],
    ["status", { status: "closed" }],
  ] as const;
  for (const [type, payload] of facts) {
    const tape = new MemoryTape().output("Name: ").fact("input").fact(type, payload);
    const answer = await waitOn(tape, [regex(String.raw`^Name: $`)]);
    expect(answer).toMatchObject({ matched: true, matchText: "Name: ", cursor: 6, position: 1 });
  }
});

test("[WAI-10] ^ and $ are begin and end of a line", async () => {
  const tape = new MemoryTape().output("a done\r\ndone x\r\ndone\r\n").end();
  expect(await waitOn(tape, [regex("^done$")])).toMatchObject({ matchBegin: 16, cursor: 20 });
  expect(await waitOn(tape, [regex("^one")])).toMatchObject({ matched: false });
});

test("[WAI-10] a match may span lines", async () => {
  const tape = new MemoryTape().output("begin\r\n").output("x\r\ny").output("\r\nend\r\n").end();
  const answer = await waitOn(tape, [regex("begin(\n.)+\nend")]);
  expect(answer).toMatchObject({ matchText: "begin\nx\ny\nend", matchBegin: 0, cursor: 16 });
});

test("[WAI-11] a match of up to 16 KiB is found wherever it stands, also in a line without end", async () => {
  const long = "=".repeat(100_000);
  const tape = new MemoryTape().output(`${long}<${"z".repeat(16_000)}>${long}`);
  expect(await waitOn(tape, [regex("<z+>")])).toMatchObject({ matchBegin: 100_000, cursor: 116_002 });
  const lines = "line\n".repeat(20_000);
  const spread = new MemoryTape().output(`${lines}<\n${"z\n".repeat(7_000)}>\n${lines}`);
  expect(await waitOn(spread, [regex("<\n(z\n)+>")])).toMatchObject({ matchBegin: 100_000, cursor: 114_003 });
});

test("[WAI-11] a line that is cut for length has no end there", async () => {
  const tape = new MemoryTape().output("y".repeat(200_000)).fact("quiet", { ms: 30 }).output("\n").end();
  const at = await waitOn(tape, [regex("y$")]);
  expect(at).toMatchObject({ cursor: 200_000 });
});

test.each([
  ["[a", "missing closing"],
  ["(?=a)", "invalid"],
  [String.raw`(a)\1`, "invalid"],
  ["(?<=a)b", "invalid"],
  ["(a{1000}){1000}", "repeat"],
  ["(a{1,30}){1,30}(b{1,30}){1,30}(c{1,30}){1,30}", "too large"],
  [String.raw`\Aa`, "use ^"],
  [String.raw`a\z`, "use ^"],
  ["(?-m)a$", "use ^"],
])("[WAI-12] %s is refused at once", async (pattern, reason) => {
  const refused = waitOn(new MemoryTape(), [regex(pattern)]);
  await expect(refused).rejects.toMatchObject({ code: "pattern_refused", message: expect.stringContaining(reason) });
});

test("[WAI-14] PROMPT, INPUT, EOF and IDLE are recorded events", async () => {
  const tape = new MemoryTape()
    .output("pw:")
    .fact("quiet", { ms: 30 })
    .fact("quiet", { ms: 100 })
    .fact("prompt", { kind: "password", promptId: "p1" })
    .output("\r\n")
    .fact("agent_block_end", { runId: "r1", exitCode: 3 })
    .fact("prompt", { kind: "shell" });
  const at = async (condition: Condition, options: Options = {}) => {
    const { cursor, position, fact } = await waitOn(tape, [condition], options);
    return [cursor, position, fact?.type];
  };
  expect(await at(idle(20))).toEqual([3, 1, "quiet"]);
  expect(await at(token("INPUT"))).toEqual([3, 3, "prompt"]);
  expect(await at(token("EOF"))).toEqual([5, 4, "agent_block_end"]);
  expect(await at(token("EOF"), { runId: "r1" })).toEqual([5, 4, "agent_block_end"]);
  expect(await at(token("PROMPT"))).toEqual([5, 5, "prompt"]);
});

test("[WAI-14] EOF of one run isn't another's, but a closed session ends all", async () => {
  const tape = new MemoryTape()
    .fact("agent_block_end", { runId: "r1" })
    .fact("agent_block_end", { blockId: "b" })
    .fact("status", { status: "active" })
    .fact("status", { status: "closed" });
  expect(await waitOn(tape, [token("EOF")], { runId: "r2" })).toMatchObject({ matched: true, position: 4 });
});

test("[WAI-15] IDLE is rounded up to the silences that are recorded, and refused beyond them", async () => {
  const tape = new MemoryTape().fact("quiet", { ms: 30 }).fact("quiet", { ms: 100 });
  expect(await waitOn(tape, [idle(50)])).toMatchObject({ matched: true, position: 2 });
  await expect(waitOn(tape, [idle(60_001)])).rejects.toThrow(AppError);
});

test("[WAI-16] a token counts only after the position and not before the cursor", async () => {
  const tape = new MemoryTape()
    .fact("prompt", { kind: "password" })
    .fact("prompt", { kind: "password" })
    .output("abc")
    .fact("prompt", { kind: "line" });
  expect(await waitOn(tape, [token("INPUT")], { fromPosition: 1 })).toMatchObject({ position: 2, cursor: 0 });
  expect(await waitOn(tape, [token("INPUT")], { fromCursor: 1 })).toMatchObject({ position: 3, cursor: 3 });
});

test("[WAI-16] after a match of text the next wait still gets the prompt at which it was decided", async () => {
  const tape = new MemoryTape().output("$ ").fact("quiet", { ms: 30 }).output("> ").fact("prompt", { kind: "shell" });
  const found = await waitOn(tape, [regex("> $")]);
  expect(found).toMatchObject({ cursor: 4, position: 1 });
  const next = await waitOn(tape, [token("PROMPT")], { fromCursor: found.cursor, fromPosition: found.position });
  expect(next).toMatchObject({ matched: true, position: 2 });
});

test("[WAI-17] a screen is judged at quiet points, as it is shown then", async () => {
  const tape = new MemoryTape()
    .fact("resize", { cols: 20, rows: 3 })
    .output("menu: Yes\r\n")
    .output("\x1b[1;7HNo \x1b[2;1Hwait")
    .fact("quiet", { ms: 30 })
    .fact("resize", { cols: 10, rows: 2 })
    .output("\x1b[2J\x1b[Hready")
    .fact("prompt", { kind: "tui" });
  const screen = (match: string): Condition => ({ type: "screen", match });
  expect(await waitOn(tape.end(), [screen("Yes")])).toMatchObject({ matched: false });
  expect(await waitOn(tape, [screen("menu: No")])).toMatchObject({ matched: true, cursor: 30, position: 1 });
  expect(await waitOn(tape, [screen("menu"), screen("ready")], { fromPosition: 3 })).toMatchObject({ which: 1 });
});

test("[WAI-17] a screen is drawn from the last keyframe before the wait", async () => {
  const tape = new MemoryTape().output("old\r\n").fact("keyframe", {}).output("new").fact("quiet", { ms: 30 });
  const event: StoredEvent = {
    type: "keyframe",
    payload: { cols: 12, rows: 4, data: "frame\r\n" },
    source: { kind: "host", id: "local" },
    sessionId: "s",
    sequence: 1,
    timestamp: "2026-01-01T00:00:00.000Z",
    cursor: 5,
    position: 1,
  };
  const answer = await waitOn(tape, [{ type: "screen", match: "frame\nnew" }], { fromCursor: 6, keyframe: event });
  expect(answer).toMatchObject({ matched: true, cursor: 8 });
  expect(tape.reads).toEqual([{ cursor: 5, position: 0 }]);
});

test.each([
  ["nothing pending", "abc\r\n", [substring("xy")], 5],
  ["a substring that has begun", "abc xyx", [substring("xyxz"), substring("cd")], 4],
  ["a character that isn't complete", Buffer.from("abcé").subarray(0, 4), [substring("zz")], 3],
  ["a sequence that isn't complete", "abc\x1b[3", [substring("zz")], 3],
  ["a CR whose follower isn't known", "abc\r", [substring("zz")], 3],
  ["a line that isn't over", "abc\r\n\x1b[1mde", [regex("zz")], 5],
  ["lines, for a regex that crosses them", "abc\r\nde", [regex("z\nz")], 0],
  ["only tokens", "abc\x1b[3", [token("PROMPT")], 6],
] as const)(
  "[WAI-18] unmatched, %s: the cursor is the largest that loses nothing",
  async (_name, output, conditions, cursor) => {
    const tape = new MemoryTape().output(Buffer.from(output)).fact("input").end();
    const answer = await waitOn(tape, [...conditions]);
    expect(answer).toEqual({ matched: false, reason: "closed", cursor, position: 1 });
  },
);

test("[WAI-20] a wait ends with timeout, or with pending when the caller's budget is shorter", async () => {
  const tape = new MemoryTape().output("abc");
  const never = [substring("zz")];
  expect(await waitOn(tape, never, { timeoutMs: 30 })).toMatchObject({ reason: "timeout", cursor: 3 });
  expect(await waitOn(tape, never, { timeoutMs: 3e12, budgetMs: 30 })).toMatchObject({ reason: "pending", cursor: 3 });
});

test("[WAI-20] a wait of no time at all tells what is recorded already", async () => {
  const tape = new MemoryTape().output("a".repeat(1_000_000)).output("needle");
  expect(await waitOn(tape, [substring("needle")], { timeoutMs: 0 })).toMatchObject({ cursor: 1_000_006 });
});

test("[WAI-20] a time beyond any timer doesn't end at once", async () => {
  const tape = new MemoryTape();
  const waiting = waitOn(tape, [substring("z")], { timeoutMs: 2 ** 40, budgetMs: 2 ** 40 });
  await eventually(() => expect(tape.reads).toHaveLength(1));
  tape.output("z");
  expect(await waiting).toMatchObject({ matched: true });
});

test("[WAI-21] a wait looks at no more than max_bytes of new output", async () => {
  const tape = new MemoryTape().output("0123456789").output("abcdef");
  expect(await waitOn(tape, [substring("cd")], { fromCursor: 2, maxBytes: 12 })).toMatchObject({ cursor: 14 });
  expect(await waitOn(tape, [substring("cd")], { fromCursor: 2, maxBytes: 11 })).toEqual({
    matched: false,
    reason: "max_bytes",
    cursor: 12,
    position: 0,
  });
});

test("[WAI-22] a wait whose caller goes away answers revoked at once", async () => {
  const tape = new MemoryTape().output("abc");
  const caller = new AbortController();
  const desk = new WaitDesk({ tape, patterns, screens });
  const request = { sessionId: "s", fromCursor: 0, fromPosition: 0, timeoutMs: 60_000, budgetMs: 45_000 };
  const waiting = desk.wait({ ...request, conditions: [substring("zz")] }, caller.signal);
  await eventually(() => expect(tape.reads).toHaveLength(1));
  caller.abort();
  expect(await waiting).toEqual({ matched: false, reason: "revoked", cursor: 3, position: 0 });
});

test("[WAI-1] a wait past the end waits until the output is there", async () => {
  const tape = new MemoryTape().output("abc");
  const waiting = waitOn(tape, [substring("abc")], { fromCursor: 5 });
  await eventually(() => expect(tape.reads).toHaveLength(1));
  tape.output("abc").output("abc");
  expect(await waiting).toMatchObject({ matchBegin: 6, cursor: 9 });
});

test("[WAI-13] while a pattern takes its time, other waits are answered", async () => {
  const slow = new MemoryTape().output(`${"a b".repeat(40_000)}\n`);
  const fast = new MemoryTape();
  let isOver = false;
  const waiting = waitOn(slow.end(), [regex("(a|b| |(a ?b?)+)+(x?){200}(y?){200}q$|z")])
    .catch((error: unknown) => error)
    .finally(() => (isOver = true));
  fast.output("here\n");
  expect(await waitOn(fast, [substring("here")])).toMatchObject({ matched: true });
  expect(await waitOn(fast, [regex("^he")])).toMatchObject({ matched: true });
  expect(isOver).toBe(false);
  await waiting;
});
