/**
 * Uses a byte store while no file can be opened, as `prlimit --nofile` makes it easy, and again when some can be.
 * Prints what it saw as one line of JSON.
 *
 *   node few-files.ts <data-dir>
 */
import { closeSync, openSync } from "node:fs";
import { StorageFailed } from "../../src/hub/ports.ts";
import { SegmentByteStore } from "../../src/store/segments/segment-byte-store.ts";

const KNOWN = "11111111-1111-4111-8111-111111111111";
const NEW = "22222222-2222-4222-8222-222222222222";

const options = { now: Date.now, segmentBytes: 10 };
const earlier = new SegmentByteStore(process.argv[2]!, options);
const store = new SegmentByteStore(process.argv[2]!, options);

/** What came of it: a name of the system's error, or the answer. */
async function outcome(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof StorageFailed)) return `unexpected: ${String(error)}`;
    return (error.cause as NodeJS.ErrnoException | undefined)?.code;
  }
}

async function useAll(offset: number): Promise<unknown[]> {
  return [
    await outcome(store.append(KNOWN, offset, Buffer.from("0123456789"))),
    await outcome(store.append(NEW, 0, Buffer.from("first"))),
    await outcome(store.read(KNOWN, 0, 4).then(String)),
    await outcome(store.size(NEW)),
    await outcome(store.streams().then((names) => names.toSorted())),
  ];
}

function takeAllFiles(): number[] {
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync("/dev/null", "r"));
  } catch {
    return taken;
  }
}

await earlier.append(KNOWN, 0, Buffer.from("0123456789"));
await earlier.append(KNOWN, 10, Buffer.from("0123456789"));
await earlier.close();
await store.size(KNOWN); // known to it, but none of its files is open
const taken = takeAllFiles();
// The second time, because a failure must not be remembered.
const without = [await useAll(20), await useAll(20)];
for (const descriptor of taken) closeSync(descriptor);
const again = await useAll(20);
await store.close();
console.log(JSON.stringify({ without, again }));
