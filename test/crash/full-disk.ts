/**
 * Fills the file system that `<data-dir>` lies on, frees room again, and prints what it saw as one line of JSON.
 *
 *   node full-disk.ts <data-dir>
 */
import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NewEvent } from "../../src/domain/event.ts";
import { StorageFailed } from "../../src/hub/ports.ts";
import { SegmentByteStore } from "../../src/store/segments/segment-byte-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";

const STREAM = "11111111-1111-4111-8111-111111111111";
/** More than the log's write-ahead file, which must fit into the database again when it is closed. */
const BALLAST_BYTES = 8_000_000;

const directory = process.argv[2]!;
const ballast = join(directory, "ballast");

function output(text: string): NewEvent {
  return { type: "stdout", payload: { text }, source: { kind: "host", id: "local" } };
}

async function fillWithEvents(): Promise<object> {
  writeFileSync(ballast, Buffer.alloc(BALLAST_BYTES));
  const store = await openSqliteStore(directory, { now: Date.now });
  const acknowledged: number[] = [];
  const observed: number[] = [];
  const delivered: number[] = [];
  const stop = new AbortController();
  store.events.observe((events) => observed.push(...events.map((event) => event.sequence)));
  const reading = (async () => {
    for await (const events of store.events.subscribe({ after: 0 }, stop.signal)) {
      delivered.push(...events.map((event) => event.sequence));
    }
  })();
  const append = async (count: number): Promise<number[]> => {
    const events = Array.from({ length: count }, () => output("x".repeat(3_000)));
    const appended = await store.events.append(STREAM, acknowledged.at(-1) ?? 0, events, "process");
    if (!appended.ok) throw new Error(`conflict at ${appended.version}`);
    acknowledged.push(...appended.events.map((event) => event.sequence));
    return acknowledged;
  };

  const failures: unknown[] = [];
  while (failures.length < 5) await append(10).catch((error: unknown) => failures.push(error));
  const failure = failures[0];
  const atFailure = acknowledged.length;
  const problem = store.problem();
  rmSync(ballast);
  await append(10);
  await append(1);
  await store.close();
  stop.abort();
  await reading;

  const again = await openSqliteStore(directory, { now: Date.now });
  const stored = (await again.events.read({ limit: 5_000 })).map((event) => event.sequence);
  const integrity = await again.integrityCheck();
  await again.close();
  return {
    failed: failure instanceof StorageFailed && failure.message,
    problem: problem ?? "none",
    stored: atFailure > 100,
    after: acknowledged.length - atFailure,
    observedIsStored: String(observed) === String(stored),
    deliveredIsStored: String(delivered) === String(stored),
    acknowledgedIsStored: String(acknowledged) === String(stored),
    integrity,
  };
}

async function fillWithBytes(): Promise<object> {
  writeFileSync(ballast, Buffer.alloc(BALLAST_BYTES));
  const store = new SegmentByteStore(directory, { now: Date.now, segmentBytes: 300_000 });
  const piece = Buffer.from("0123456789".repeat(7_000));
  let size = 0;
  const failures: unknown[] = [];
  while (failures.length === 0) {
    await store.append(STREAM, size, piece).then(
      (appended) => (size = appended.size),
      (error: unknown) => failures.push(error),
    );
  }
  const sizeAtFailure = await store.size(STREAM);
  await store.append(STREAM, size, piece).catch(() => undefined);
  const tail = await store.read(STREAM, size - 10, 1_000);
  rmSync(ballast);
  const next = await store.append(STREAM, size, Buffer.from("abc"));
  await store.close();

  const again = new SegmentByteStore(directory, { now: Date.now });
  const end = String(await again.read(STREAM, size - 10, 1_000));
  await again.close();
  return {
    failed: failures[0] instanceof StorageFailed,
    sizeIsAcknowledged: sizeAtFailure === size,
    tail: String(tail),
    next: next.ok && next.size - size,
    end,
  };
}

/** Small appends to a log that has room of its own while nobody else has: the number of those that were stored. */
async function appendWithoutRoom(): Promise<number> {
  const store = await openSqliteStore(directory, { now: Date.now });
  for (let index = 0; index < 5; index += 1) await store.events.append(STREAM, "any", [output("before")], "process");
  fillCompletely();
  let stored = 0;
  for (let index = 0; index < 15; index += 1) {
    await store.events.append(STREAM, "any", [output("during")], "process").then(
      () => (stored += 1),
      () => undefined,
    );
  }
  rmSync(ballast);
  await store.close();
  return stored;
}

function fillCompletely(): void {
  try {
    for (;;) appendFileSync(ballast, Buffer.alloc(4_096));
  } catch {
    // no room is left
  }
}

console.log(JSON.stringify({ events: await fillWithEvents() }));
rmSync(join(directory, "events.db"));
console.log(JSON.stringify({ bytes: await fillWithBytes() }));
console.log(JSON.stringify({ small: await appendWithoutRoom() }));
