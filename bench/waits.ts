/** How fast a wait searches output that it has to read from the log. */
import { Patterns } from "../src/lib/patterns.ts";
import { type TapeItem, type TapeReader, WaitDesk } from "../src/hub/wait-desk.ts";
import type { Measure } from "./measure.ts";

const MEGABYTES = 64;
const LEAST_MB_PER_SECOND = 100;
const ROUNDS = 5;
const LINES = Buffer.from("drwxr-xr-x 2 user user 4096 Jan  1 12:00 some-file-name-here.txt\r\n".repeat(4_000));
const LAST = Buffer.from("the end\r\n");
const PATIENCE_MS = 600_000;

export async function* run(): AsyncIterable<Measure> {
  const patterns = new Patterns({ deadlineMs: PATIENCE_MS });
  try {
    const rates: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) rates.push(await searchRate(patterns));
    const value = Math.max(...rates);
    yield { name: "substring searched for, best of 5", value, unit: "MB/s of processor", atLeast: LEAST_MB_PER_SECOND };
  } finally {
    await patterns.close();
  }
}

/** Megabytes in a second of processor time: others may want the machine too. */
async function searchRate(patterns: Patterns): Promise<number> {
  const desk = new WaitDesk({ tape: new LongTape(), patterns, screens: { open: noScreens } });
  const began = process.cpuUsage();
  const { matched } = await desk.wait(
    {
      sessionId: "s",
      fromCursor: 0,
      fromPosition: 0,
      timeoutMs: PATIENCE_MS,
      budgetMs: PATIENCE_MS,
      conditions: [{ type: "substring", match: "the end" }],
    },
    new AbortController().signal,
  );
  if (!matched) throw new Error("The text was not found");
  const { user, system } = process.cpuUsage(began);
  return (MEGABYTES * 1_000_000) / (user + system);
}

class LongTape implements TapeReader {
  async *read(): AsyncGenerator<readonly TapeItem[]> {
    const size = MEGABYTES * 1_000_000;
    let cursor = 0;
    for (; cursor < size; cursor += LINES.length) yield [{ kind: "bytes", cursor, bytes: LINES }];
    yield [{ kind: "bytes", cursor, bytes: LAST }];
  }
}

function noScreens(): never {
  throw new Error("no screen is waited for");
}
