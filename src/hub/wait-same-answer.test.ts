/** The same history gives the same answer: however it is chunked, live or stored, in one wait or in many. */
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { SEED } from "../../test/crash/seeded.ts";
import { DEADLINE_MS } from "../../test/support/deadline.ts";
import { MemoryTape } from "../../test/support/memory-tape.ts";
import { TextView } from "../domain/text-view.ts";
import { Patterns } from "../lib/patterns.ts";
import { type Condition, type TapeItem, type WaitAnswer, WaitDesk } from "./wait-desk.ts";
import { soakCount } from "../../test/support/soak.ts";

const TIMEOUT_MS = 300_000;
const RUNS = soakCount(3_000);

const patterns = new Patterns({ deadlineMs: DEADLINE_MS });
afterAll(() => patterns.close());
const screens = {
  open: () => {
    throw new Error("no screen is waited for");
  },
};

type Step = { readonly output: string } | { readonly fact: "quiet" | "shell" | "line" | "end" | "input" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(
        fc.oneof(
          fc.constantFrom("a", "b", "ab", "aab", " ", "\n", "\r\n", "\r", "é", "語", "😀"),
          fc.constantFrom("\x1b[31m", "\x1b]0;ab\x07", "\x1b]0;aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\x07"),
        ),
        { maxLength: 12 },
      )
      .map((it) => ({ output: it.join("") })),
  },
  { weight: 2, arbitrary: fc.constantFrom("quiet", "shell", "line", "end", "input").map((fact) => ({ fact })) },
);

const textCondition: fc.Arbitrary<Condition> = fc.oneof(
  fc
    .constantFrom("ba", "aabb", "b\na", "a\n\na", "é語", "aa aab", "😀a")
    .map((match) => ({ type: "substring", match }) as const),
  fc
    .constantFrom(
      "^b$",
      "^ab",
      "a+$",
      "b.b",
      "^$",
      "a\nb",
      "b\\s+a",
      "^a[^b]*b$",
      "(é|語)+.b",
      "\\bab\\b",
      "a(.|\n)*?😀",
      "^語",
      "b\n",
    )
    .map((match) => ({ type: "regex", match }) as const),
);
const anyCondition: fc.Arbitrary<Condition> = fc.oneof(
  { weight: 4, arbitrary: textCondition },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Condition>(
      { type: "token", token: "PROMPT" },
      { type: "token", token: "INPUT" },
      { type: "token", token: "EOF" },
      { type: "token", token: "IDLE", idleMs: 200 },
    ),
  },
);
const history = fc.array(step, { minLength: 1, maxLength: 14 });

function tapeOf(steps: readonly Step[]): MemoryTape {
  const tape = new MemoryTape();
  for (const it of steps) {
    if ("output" in it) tape.output(it.output);
    else if (it.fact === "shell" || it.fact === "line") tape.fact("prompt", { kind: it.fact });
    else if (it.fact === "quiet") tape.fact("quiet", { ms: 30 });
    else if (it.fact === "end") tape.fact("agent_block_end", {});
    else tape.fact("input");
  }
  return tape;
}

/** The same history in chunks of other sizes. */
function rechunked(items: readonly TapeItem[], sizes: readonly number[]): TapeItem[] {
  let count = 0;
  return items.flatMap((item) => {
    if (item.kind === "fact") return [item];
    const chunks: TapeItem[] = [];
    for (let at = 0; at < item.bytes.length;) {
      const bytes = item.bytes.subarray(at, at + sizes[count % sizes.length]!);
      chunks.push({ kind: "bytes", cursor: item.cursor + at, bytes });
      at += bytes.length;
      count += 1;
    }
    return chunks;
  });
}

type Place = Pick<WaitAnswer, "cursor" | "position">;
type Asked = { readonly conditions: readonly Condition[]; readonly segmentBytes: number; readonly from?: Place };

function ask(tape: MemoryTape, { conditions, segmentBytes, from = { cursor: 0, position: 0 } }: Asked) {
  const desk = new WaitDesk({ tape, patterns, screens, segmentBytes });
  const place = { fromCursor: from.cursor, fromPosition: from.position };
  const request = { sessionId: "s", conditions, ...place, timeoutMs: 60_000, budgetMs: 60_000 };
  return desk.wait(request, new AbortController().signal);
}

const asked = fc.record({
  conditions: fc.array(anyCondition, { minLength: 1, maxLength: 3 }),
  segmentBytes: fc.constantFrom(8, 16, 64, 16_384),
});
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 });

test(
  "[WAI-1] any chunking, stored or live, gives the same answer",
  async () => {
    await fc.assert(
      fc.asyncProperty(history, asked, sizes, async (steps, question, chunkSizes) => {
        const whole = await ask(tapeOf(steps).end(), question);
        const chunks = rechunked(tapeOf(steps).items, chunkSizes);
        expect(await ask(MemoryTape.of(chunks), question)).toEqual(whole);

        const live = new MemoryTape();
        const waiting = ask(live, question);
        for (const chunk of chunks) {
          if (chunk.kind === "bytes") live.output(chunk.bytes);
          else live.fact(chunk.event.type, chunk.event.payload);
          await Promise.resolve();
        }
        live.end();
        expect(await waiting).toEqual(whole);
      }),
      { seed: SEED, numRuns: RUNS },
    );
  },
  TIMEOUT_MS,
);

test(
  "[WAI-18] a wait that is resumed again and again answers as one that was never interrupted",
  async () => {
    await fc.assert(
      fc.asyncProperty(history, asked, sizes, async (steps, question, chunkSizes) => {
        const whole = await ask(tapeOf(steps).end(), question);
        const items = rechunked(tapeOf(steps).items, chunkSizes);
        let answer: WaitAnswer = { matched: false, reason: "closed", cursor: 0, position: 0 };
        for (let count = 1; count <= items.length && !answer.matched; count += 1) {
          const known = MemoryTape.of(items.slice(0, count));
          const next = await ask(known, { ...question, from: answer });
          expect(next.cursor).toBeGreaterThanOrEqual(answer.cursor);
          answer = next;
        }
        expect(answer).toEqual(whole);
      }),
      { seed: SEED, numRuns: RUNS },
    );
  },
  TIMEOUT_MS,
);

test(
  "[WAI-8, WAI-9] answers are those of a plain reading of the rules",
  async () => {
    await fc.assert(
      fc.asyncProperty(history, textCondition, async (steps, condition) => {
        const tape = tapeOf(steps).end();
        const answer = await ask(tape, { conditions: [condition], segmentBytes: 16_384 });
        const found = plainReading(tape.items, condition);
        expect(answer.matched ? [answer.matchBegin, answer.cursor, answer.matchText] : undefined).toEqual(found);
      }),
      { seed: SEED, numRuns: RUNS },
    );
  },
  TIMEOUT_MS,
);

/** Every prefix of the text at which the condition is to be tried, one after the other. */
function plainReading(items: readonly TapeItem[], condition: Condition): [number, number, string] | undefined {
  if (condition.type !== "substring" && condition.type !== "regex") throw new Error("only for text");
  const view = new TextView(0);
  let text = "";
  const result = (begin: number, length: number): [number, number, string] => {
    const end = begin + length === 0 ? 0 : view.rawEnd(begin + length - 1);
    return [length === 0 ? end : view.rawBegin(begin), end, text.slice(begin, begin + length)];
  };
  const attempt = (prefix: string): [number, number, string] | undefined => {
    if (condition.type === "substring") {
      const at = prefix.indexOf(condition.match);
      return at < 0 ? undefined : result(at, condition.match.length);
    }
    const match = new RegExp(condition.match, "mu").exec(prefix);
    return match === null ? undefined : result(match.index, match[0].length);
  };
  for (const item of items) {
    const before = text.length;
    if (item.kind === "bytes") text += view.push(item.bytes);
    const tries = Array.from({ length: text.length }, (_, at) => at).filter(
      (at) => at >= before && (condition.type === "substring" || text[at] === "\n"),
    );
    const ends = condition.type === "substring" ? tries.map((at) => at + 1) : tries;
    if (item.kind === "fact" && item.event.type !== "input") ends.push(text.length);
    const found = ends.map((end) => attempt(text.slice(0, end))).find((it) => it !== undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}
