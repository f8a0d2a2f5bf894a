/**
 * The event log against the bare database: the same rows into the same schema, in turns, in one run. The log adds
 * a thread, versions, sequences, readers; it must keep at least 70 % of the speed of prepared INSERTs.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { NewEvent, StoredEvent } from "../src/domain/event.ts";
import { MIGRATIONS } from "../src/store/sqlite/thread/migrations.ts";
import { openSqliteStore, type SqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import { type Measure, median, percentile } from "./measure.ts";

const ROUNDS = 7;
const EVENTS = 40_000;
const SINGLE_EVENTS = 3_000;
const BATCH = 100;
const IN_FLIGHT = 8;
const SUBSCRIBERS = 50;
const FAN_OUT_EVENTS = 20_000;
const PACED_APPENDS = 300;
const STREAM = "11111111-1111-4111-8111-111111111111";

const events: readonly NewEvent[] = Array.from({ length: EVENTS }, (_, index) => ({
  type: "stdout",
  payload: {
    cursor: index * 90,
    length: 90,
    text: `${index} some terminal output as a compiler prints it, with a path /src/a/b.ts:${index}\n`,
  },
  source: { kind: "host", id: "local" },
  position: index,
  cursor: index * 90,
}));
const batches = Array.from({ length: EVENTS / BATCH }, (_, index) => events.slice(index * BATCH, (index + 1) * BATCH));

export async function* run(): AsyncIterable<Measure> {
  const rates = {
    bare: [] as number[],
    batched: [] as number[],
    single: [] as number[],
    pipelined: [] as number[],
    backfill: [] as number[],
  };
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const bare = bareInserts();
    const batched = await withStore(appendBatches);
    rates.bare.push(bare);
    rates.batched.push(batched.appends);
    rates.backfill.push(batched.backfill);
    // Each against the bare runs right before and after it: a machine that slows down meanwhile favours neither.
    ratios.push(batched.appends / ((bare + bareInserts()) / 2));
    rates.single.push(await withStore(appendOneByOne));
    rates.pipelined.push(await withStore(appendPipelined));
  }
  for (const [name, values] of Object.entries(rates)) yield { name, value: median(values), unit: "events/s" };
  yield { name: "batched / bare", value: median(ratios), unit: "ratio", atLeast: 0.7 };
  yield* await withStore(fanOut);
  const memory = process.memoryUsage();
  yield { name: "resident memory", value: memory.rss / 2 ** 20, unit: "MiB" };
  yield { name: "heap used", value: memory.heapUsed / 2 ** 20, unit: "MiB" };
}

function bareInserts(): number {
  const directory = mkdtempSync(join(tmpdir(), "sidestick-bench-"));
  const db = new DatabaseSync(join(directory, "bare.db"));
  try {
    db.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL");
    db.exec("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -8000; PRAGMA wal_autocheckpoint = 1000");
    for (const step of MIGRATIONS) db.exec(step);
    const insert = db.prepare("INSERT INTO events VALUES (?, 1, 1, 0, ?, 1, ?, ?, ?, NULL)");
    const at = Date.now();
    return rate(EVENTS, () => {
      let sequence = 0;
      for (const batch of batches) {
        db.exec("BEGIN");
        for (const { position, cursor, payload } of batch) {
          sequence += 1;
          insert.run(sequence, at, position!, cursor!, JSON.stringify(payload));
        }
        db.exec("COMMIT");
      }
    });
  } finally {
    db.close();
    rmSync(directory, { recursive: true });
  }
}

async function appendBatches({ events: log }: SqliteStore): Promise<{ appends: number; backfill: number }> {
  const appends = await rateAsync(EVENTS, async () => {
    const queue = batches.values();
    const write = async (): Promise<void> => {
      for (const batch of queue) await log.append(STREAM, "any", batch, "process");
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, write));
  });
  const backfill = await rateAsync(EVENTS, async () => {
    let after = 0;
    for (;;) {
      const page = await log.read({ after, limit: 500 });
      if (page.length === 0) return;
      after = page.at(-1)!.sequence;
    }
  });
  return { appends, backfill };
}

async function appendOneByOne({ events: log }: SqliteStore): Promise<number> {
  return await rateAsync(SINGLE_EVENTS, async () => {
    for (const event of events.slice(0, SINGLE_EVENTS)) await log.append(STREAM, "any", [event], "process");
  });
}

async function appendPipelined({ events: log }: SqliteStore): Promise<number> {
  return await rateAsync(EVENTS, async () => {
    const queue = events.values();
    const write = async (): Promise<void> => {
      for (const event of queue) await log.append(STREAM, "any", [event], "process");
    };
    await Promise.all(Array.from({ length: 256 }, write));
  });
}

async function fanOut({ events: log }: SqliteStore): Promise<Measure[]> {
  const stop = new AbortController();
  const sent = new Map<number, number>();
  const latencies: number[] = [];
  let delivered = 0;
  let onAll: (() => void) | undefined;
  let awaited = Number.POSITIVE_INFINITY;
  const read = async (): Promise<void> => {
    for await (const batch of log.subscribe({ after: 0 }, stop.signal)) {
      const now = performance.now();
      for (const event of batch) note(event, now);
      if (delivered >= awaited) onAll?.();
    }
  };
  const note = (event: StoredEvent, now: number): void => {
    delivered += 1;
    const at = sent.get(event.position!);
    if (at !== undefined) latencies.push(now - at);
  };
  const readers = Array.from({ length: SUBSCRIBERS }, read);

  const flood = await rateAsync(FAN_OUT_EVENTS * SUBSCRIBERS, async () => {
    awaited = FAN_OUT_EVENTS * SUBSCRIBERS;
    const all = new Promise<void>((resolve) => (onAll = resolve));
    for (const batch of batches.slice(0, FAN_OUT_EVENTS / BATCH)) await log.append(STREAM, "any", batch, "process");
    await all;
  });
  for (let index = 0; index < PACED_APPENDS; index += 1) {
    const position = 1_000_000 + index;
    sent.set(position, performance.now());
    await log.append(STREAM, "any", [{ ...events[0]!, position }], "process");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  stop.abort();
  await Promise.all(readers);
  return [
    { name: `fan-out to ${SUBSCRIBERS}`, value: flood, unit: "deliveries/s" },
    { name: "append to delivery, median", value: percentile(latencies, 0.5), unit: "ms" },
    { name: "append to delivery, 99th percentile", value: percentile(latencies, 0.99), unit: "ms" },
  ];
}

async function withStore<T>(work: (store: SqliteStore) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), "sidestick-bench-"));
  const store = await openSqliteStore(directory, { now: Date.now });
  try {
    return await work(store);
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
}

function rate(count: number, work: () => void): number {
  const from = performance.now();
  work();
  return (count / (performance.now() - from)) * 1000;
}

async function rateAsync(count: number, work: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await work();
  return (count / (performance.now() - from)) * 1000;
}
