/**
 * Appends to a byte store until it is killed, to four streams at once, each going on where it ended. Prints
 * `<stream> <size>` after each acknowledgement.
 *
 *   node byte-writer.ts <data-dir> <seed>
 */
import { SegmentByteStore } from "../../src/store/segments/segment-byte-store.ts";
import { contentAt, SEGMENT_BYTES, STREAMS } from "./byte-content.ts";
import { seeded } from "./seeded.ts";
import { printNow } from "../support/print-now.ts";

const [directory = "", seed = "0"] = process.argv.slice(2);
const store = new SegmentByteStore(directory, { now: Date.now, segmentBytes: SEGMENT_BYTES });

async function write(stream: string, index: number): Promise<void> {
  const random = seeded(Number(seed) * 5 + index);
  for (let size = await store.size(stream); ;) {
    const length = random(3) === 0 ? 1 + random(70_000) : 1 + random(500);
    const appended = await store.append(stream, size, contentAt(index, size, length));
    size = appended.size;
    printNow(`${stream} ${size}\n`);
  }
}

await Promise.all(STREAMS.map(write));
