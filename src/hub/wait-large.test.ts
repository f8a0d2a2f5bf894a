/** Waits over much output: found however far, at a cost in proportion to the output, in bounded memory. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, expect, test } from "vitest";
import { Patterns } from "../lib/patterns.ts";
import { type Condition, type TapeItem, type TapeReader, WaitDesk, type WaitAnswer } from "./wait-desk.ts";
import { DEADLINE_MS } from "../../test/support/deadline.ts";
import { IS_SOAK } from "../../test/support/soak.ts";

const MEGABYTES = IS_SOAK ? 256 : 32;
/** Less than what was read, and more than what a wait holds of it. */
const HELD_MAX = (IS_SOAK ? 64 : 16) * (1 << 20);
const CHUNK = 1 << 18;
/** A look at the memory for so many chunks: each begins with a collection. */
const LOOK_CHUNKS = 16;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** What is in use, without what only waits to be collected. */
function inUse(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

// What a pattern means doesn't hang on how busy the machine is.
const patterns = new Patterns({ deadlineMs: DEADLINE_MS });
afterAll(() => patterns.close());
const screens = {
  open: () => {
    throw new Error("no screen is waited for");
  },
};

/** `megabytes` of lines and then one more, made while they are read; remembers the most memory that was in use. */
class LongTape implements TapeReader {
  readonly last = Buffer.from("\r\nx.txt\r\nthe end, über 語\r\n");
  readonly lines: Buffer;
  readonly size: number;
  peak = 0;

  constructor(megabytes: number, line: string) {
    this.lines = Buffer.from(line.repeat(Math.ceil(CHUNK / line.length))).subarray(0, CHUNK);
    this.size = megabytes * (1 << 20);
  }

  async *read(): AsyncGenerator<readonly TapeItem[]> {
    let cursor = 0;
    for (; cursor < this.size; cursor += CHUNK) {
      yield [{ kind: "bytes", cursor, bytes: this.lines }];
      if ((cursor / CHUNK) % LOOK_CHUNKS === 0) this.peak = Math.max(this.peak, inUse());
    }
    yield [{ kind: "bytes", cursor, bytes: this.last }];
  }
}

async function search(tape: LongTape, conditions: readonly Condition[]): Promise<WaitAnswer> {
  const desk = new WaitDesk({ tape, patterns, screens });
  const request = { sessionId: "s", fromCursor: 0, fromPosition: 0, timeoutMs: 600_000, budgetMs: 600_000 };
  return desk.wait({ ...request, conditions }, new AbortController().signal);
}

const LINE = "drwxr-xr-x 2 user user 4096 Jan  1 12:00 some-file-name-here.txt\r\n";
const COLOURED = "\x1b[32m+ added\x1b[0m größe \x1b[1m語\x1b[0m and the rest of it\r\n";

test.each([
  ["a substring", { type: "substring", match: "über 語" }, LINE],
  ["a substring, in coloured text", { type: "substring", match: "über 語" }, COLOURED],
  ["a regex", { type: "regex", match: "^the end, .*$" }, LINE],
  ["a regex that crosses lines", { type: "regex", match: "txt\nthe end" }, LINE],
  ["a regex in a line without end", { type: "regex", match: "(the) end" }, "=".repeat(1000)],
] satisfies [string, Condition, string][])(
  "[WAI-19] %s is found after a long way in bounded memory",
  async (_name, condition, line) => {
    const tape = new LongTape(MEGABYTES, line);
    const before = inUse();
    const answer = await search(tape, [condition]);
    expect(answer.matched).toBe(true);
    expect(answer.cursor).toBeGreaterThan(tape.size);
    expect(tape.peak - before).toBeLessThan(HELD_MAX);
  },
);
