/**
 * Appends under a limit on the size of files, as `prlimit --fsize` sets it: writes then fail with an error that is
 * not a full disk. Prints what it saw as one line of JSON.
 *
 *   node short-file.ts <data-dir>
 */
import { StorageFailed } from "../../src/hub/ports.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";

const STREAM = "11111111-1111-4111-8111-111111111111";

const store = await openSqliteStore(process.argv[2]!, { now: Date.now });
const observed: number[] = [];
store.events.observe((events) => observed.push(...events.map((event) => event.sequence)));
let acknowledged = 0;

async function append(length: number): Promise<string | undefined> {
  const events = [
    { type: "stdout", payload: { text: "x".repeat(length) }, source: { kind: "host", id: "local" } },
  ] as const;
  try {
    const appended = await store.events.append(STREAM, acknowledged, events, "process");
    if (appended.ok) acknowledged = appended.events[0]!.sequence;
    return undefined;
  } catch (error) {
    return error instanceof StorageFailed ? error.message : `unexpected: ${String(error)}`;
  }
}

let first: string | undefined;
while (first === undefined) first = await append(50_000);
const second = await append(1);
const readable = await store.events.read({ limit: 5_000 });
const problem = store.problem();
await store.close().catch(() => undefined);
const found = { first, second, problem, acknowledged, observed: observed.length, readable: readable.length };
console.log(JSON.stringify(found));
