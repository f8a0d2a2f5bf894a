/** What every subscription to an `EventLog` promises. Rules LOG-11 and LOG-12 in docs/spec/log.md. */
import { describe, expect, test } from "vitest";
import { HUB_STREAM, type StoredEvent } from "../domain/event.ts";
import type { EventFeed, EventLog } from "../hub/ports.ts";
import { ANN, BOB, type OpenLog, output, status, TestLog, TOKEN } from "../../test/store/test-log.ts";

export function eventFeedContract(open: OpenLog): void {
  describe("a subscription", () => {
    orderContract(open);
    filterContract(open);
    rarityContract(open);
    slownessContract(open);
    endContract(open);
  });
}

function orderContract(open: OpenLog): void {
  test("[LOG-11] a subscription goes from stored to live without a gap and without a repeat", async () => {
    const it = await TestLog.open(open);
    await it.write(ANN, "1", "2");
    await it.reopen();
    await it.write(ANN, "3");

    const reading = take(it.log, { after: 1 }, 6);
    await it.write(BOB, "4", "5");
    await it.write(ANN, "6");
    await it.write(ANN, "7");

    expect(await reading).toEqual([2, 3, 4, 5, 6, 7]);
  });

  test("[LOG-11] subscriptions that begin while events pour in each get all of them", async () => {
    const it = await TestLog.open(open);
    const total = 3_000;
    const writing = (async () => {
      for (let written = 0; written < total; written += 10) {
        await it.write(ANN, ...Array.from({ length: 10 }, (_, index) => String(written + index)));
      }
    })();

    const readers: Promise<number[]>[] = [];
    const observing = it.log.observe((events) => {
      const cursor = events[0]!.sequence - 1;
      if (cursor % 300 === 0)
        readers.push(take(it.log, { after: cursor - (cursor % 900) }, total - (cursor - (cursor % 900))));
    });
    await writing;
    observing[Symbol.dispose]();

    expect(readers.length).toBe(10);
    for (const sequences of await Promise.all(readers)) {
      expect(sequences).toEqual(
        Array.from({ length: sequences.length }, (_, index) => total - sequences.length + index + 1),
      );
    }
  });

  test("[LOG-11] without a cursor it begins at the oldest event, also in an empty log", async () => {
    const it = await TestLog.open(open);
    const empty = take(it.log, {}, 2);
    await it.write(ANN, "1", "2");

    expect(await empty).toEqual([1, 2]);
    expect(await take(it.log, {}, 2)).toEqual([1, 2]);
  });

  test("[LOG-11] a cursor from the future waits for what comes after it", async () => {
    const it = await TestLog.open(open);
    const reading = take(it.log, { after: 3 }, 1);

    await it.write(ANN, "1", "2");
    await it.write(ANN, "3", "4");

    expect(await reading).toEqual([4]);
  });
}

function filterContract(open: OpenLog): void {
  test("[LOG-7, LOG-11] stored and live events pass the same filter", async () => {
    const it = await TestLog.open(open);
    const mixed = [output("a"), status("b"), TOKEN];
    await it.log.append(ANN, "any", mixed, "process");
    await it.log.append(BOB, "any", mixed, "process");
    await it.reopen();
    const readings = [
      take(it.log, { after: 0 }, 8),
      take(it.log, { after: 0, sessionId: ANN }, 4),
      take(it.log, { after: 0, types: ["status"] }, 4),
      take(it.log, { after: 0, sessionId: BOB, types: ["token", "stdout"] }, 4),
    ];
    await it.log.append(ANN, "any", mixed, "process");
    await it.log.append(HUB_STREAM, "any", [TOKEN], "process");
    await it.log.append(BOB, "any", mixed, "process");

    expect(await Promise.all(readings)).toEqual([
      [1, 2, 4, 5, 7, 8, 11, 12],
      [1, 2, 7, 8],
      [2, 5, 8, 12],
      [4, 6, 11, 13],
    ]);
  });
}

function rarityContract(open: OpenLog): void {
  test("[LOG-11] one match behind thousands that don't match is found, stored and live", async () => {
    const it = await TestLog.open(open);
    const flood = Array.from({ length: 5_000 }, () => output(""));
    const live = take(it.log, { after: 0, types: ["status"] }, 1);

    await it.log.append(ANN, "any", [...flood, status("needle")], "process");

    expect(await live).toEqual([5_001]);
    await it.reopen();
    expect(await take(it.log, { after: 0, types: ["status"] }, 1)).toEqual([5_001]);
    expect(await take(it.log, { after: 0, sessionId: ANN, types: ["status", "token"] }, 1)).toEqual([5_001]);
  });
}

function slownessContract(open: OpenLog): void {
  test("[LOG-12] a reader that stops reading holds back nobody and misses nothing", async () => {
    const it = await TestLog.open(open);
    const slow = it.log.subscribe({ after: 0 }, new AbortController().signal)[Symbol.asyncIterator]();
    await it.write(ANN, "1");
    const first = await slow.next();
    const total = 30_000; // more than any adapter keeps in memory for its readers
    const quick = take(it.log, { after: 1 }, total - 1);
    const text = "x".repeat(300);

    for (let written = 1; written < total;) {
      const count = Math.min(500, total - written);
      await it.log.append(
        ANN,
        "any",
        Array.from({ length: count }, () => output(text)),
        "process",
      );
      written += count;
    }
    expect((await quick).at(-1)).toBe(total);

    const sequences = (first.value as readonly StoredEvent[]).map((event) => event.sequence);
    while (sequences.length < total) {
      const { value } = await slow.next();
      for (const event of value as readonly StoredEvent[]) sequences.push(event.sequence);
    }
    expect(sequences).toEqual(Array.from({ length: total }, (_, index) => index + 1));
    await slow.return?.();
  });
}

function endContract(open: OpenLog): void {
  test("[LOG-12] an abort ends a waiting subscription, and one that is reading", async () => {
    const it = await TestLog.open(open);
    await it.write(ANN, "1", "2");
    const stop = new AbortController();
    const waiting = drain(it.log.subscribe({ after: 2 }, stop.signal));
    const reading = drain(it.log.subscribe({}, stop.signal));

    stop.abort();

    expect(await waiting).toEqual([]);
    expect(await reading).toEqual([]);
    expect(await drain(it.log.subscribe({}, stop.signal))).toEqual([]);
  });

  test("[LOG-12] closing the log ends its subscriptions", async () => {
    const it = await TestLog.open(open);
    await it.write(ANN, "1");
    const waiting = drain(it.log.subscribe({ after: 0 }, new AbortController().signal));
    await take(it.log, { after: 0 }, 1);

    await it.log.close();

    expect(await waiting).toEqual([1]);
  });

  test("[LOG-12] a reader that leaves is gone, even while it waits", async () => {
    const it = await TestLog.open(open);
    const feed = it.log.subscribe({ after: 0 }, new AbortController().signal)[Symbol.asyncIterator]();
    const waiting = feed.next();

    await feed.return?.();

    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(await feed.next()).toEqual({ done: true, value: undefined });
  });
}

/** The sequences of the first `count` events. */
export async function take(
  log: EventLog,
  query: Parameters<EventLog["subscribe"]>[0],
  count: number,
): Promise<number[]> {
  const sequences: number[] = [];
  for await (const events of log.subscribe(query, new AbortController().signal)) {
    expect(events.length).toBeGreaterThan(0);
    sequences.push(...events.map((event) => event.sequence));
    if (sequences.length >= count) break;
  }
  return sequences;
}

async function drain(feed: EventFeed): Promise<number[]> {
  const sequences: number[] = [];
  for await (const events of feed) sequences.push(...events.map((event) => event.sequence));
  return sequences;
}
