/**
 * Looks for damage in a `-wal` file before SQLite reads it. SQLite ends its reading at the first frame that doesn't
 * fit and forgets the rest without a word, which is right for a torn end and loses everything behind damage.
 * Format: https://sqlite.org/fileformat2.html#the_write_ahead_log
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const MAGIC = 0x377f0682; // the lowest bit says that sums are made of big-endian words
const VERSION = 3_007_000;
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

type Sums = readonly [number, number];

type Header = {
  readonly littleEndian: boolean;
  readonly frameBytes: number;
  readonly salts: Sums;
  readonly sums: Sums;
};

/**
 * What is wrong with the file, if something is. `isWhole` says that every write reached it: the machine has not gone
 * down since, which may lose an earlier frame and keep a later one.
 */
export function damageOfLog(path: string, { isWhole }: { readonly isWhole: boolean }): string | undefined {
  const descriptor = openSync(path, "r");
  try {
    const { size } = fstatSync(descriptor);
    if (size <= HEADER_BYTES) return undefined; // no frame: nothing can be lost
    const header = readHeader(readAt(descriptor, 0, HEADER_BYTES));
    if (header === undefined) return "its header is not what was written";
    if (!isWhole) return undefined;
    const frames = Math.floor((size - HEADER_BYTES) / header.frameBytes);
    const walk = new FrameWalk(header);
    for (let index = 0; index < frames; index += 1) {
      walk.take(readAt(descriptor, HEADER_BYTES + index * header.frameBytes, header.frameBytes));
      if (walk.isDamaged) return `frame ${walk.validFrames + 1} is not what was written, and others follow it`;
    }
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}

function readHeader(view: DataView): Header | undefined {
  const magic = view.getUint32(0);
  const littleEndian = magic === MAGIC;
  const sums: Sums = [view.getUint32(24), view.getUint32(28)];
  const isOurs = (littleEndian || magic === MAGIC + 1) && view.getUint32(4) === VERSION;
  if (!isOurs || !areEqual(sums, sum([0, 0], view, { from: 0, to: 24, littleEndian }))) return undefined;
  const salts: Sums = [view.getUint32(16), view.getUint32(20)];
  return { littleEndian, frameBytes: FRAME_HEADER_BYTES + view.getUint32(8), salts, sums };
}

class FrameWalk {
  validFrames = 0;
  readonly #header: Header;
  /** The sums that the frame before this one holds; each frame's go on from there. */
  #before: Sums;
  #isBroken = false;
  #commitsAfter = 0;

  constructor(header: Header) {
    this.#header = header;
    this.#before = header.sums;
  }

  /**
   * A transaction that was never committed leaves frames without a commit among them; one that was being committed
   * when the process died may leave a single one. Two prove that frames before them were whole.
   */
  get isDamaged(): boolean {
    return this.#commitsAfter >= 2;
  }

  take(frame: DataView): void {
    const stored: Sums = [frame.getUint32(16), frame.getUint32(20)];
    const isCommit = frame.getUint32(4) !== 0;
    const isOfThisLog = areEqual([frame.getUint32(8), frame.getUint32(12)], this.#header.salts);
    const follows = isOfThisLog && (isCommit || !this.#isBroken) && areEqual(this.#sumsOf(frame), stored);
    this.#before = stored;
    if (this.#isBroken) this.#commitsAfter += follows ? 1 : 0;
    else if (follows) this.validFrames += 1;
    else this.#isBroken = true;
  }

  #sumsOf(frame: DataView): Sums {
    const { littleEndian } = this.#header;
    const head = sum(this.#before, frame, { from: 0, to: 8, littleEndian });
    return sum(head, frame, { from: FRAME_HEADER_BYTES, to: frame.byteLength, littleEndian });
  }
}

function sum(
  start: Sums,
  view: DataView,
  { from, to, littleEndian }: { from: number; to: number; littleEndian: boolean },
): Sums {
  let [first, second] = start;
  for (let at = from; at < to; at += 8) {
    first = (first + view.getUint32(at, littleEndian) + second) >>> 0;
    second = (second + view.getUint32(at + 4, littleEndian) + first) >>> 0;
  }
  return [first, second];
}

function areEqual(one: Sums, other: Sums): boolean {
  return one[0] === other[0] && one[1] === other[1];
}

function readAt(descriptor: number, position: number, length: number): DataView {
  const bytes = new Uint8Array(length);
  readSync(descriptor, bytes, 0, length, position);
  return new DataView(bytes.buffer);
}
