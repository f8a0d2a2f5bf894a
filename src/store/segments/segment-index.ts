/**
 * When which offset was reached: `<offset>.idx` beside each segment, records of 16 bytes (offset, time). A help for
 * seeking in time, never needed to read bytes: what is torn or missing only makes the answer coarser (BYT-8).
 */
import { constants } from "node:fs";
import { type FileHandle, open, readFile } from "node:fs/promises";

const RECORD_BYTES = 16;
const EVERY_BYTES = 64 * 1024;
const EVERY_MS = 100;

/** A program that prints one character a second for months: the pause between records grows by itself. */
const RECORDS_PER_PAUSE = 4_096;

type IndexRecord = { readonly offset: number; readonly at: number };

/** The index of the newest segment, for appending. */
export class SegmentIndex {
  readonly #path: string;
  #handle: FileHandle | undefined;
  #count = 0;
  #last: IndexRecord | undefined;
  /** The newest that was too close to the last record to get one. */
  #passed: IndexRecord | undefined;
  #noting: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /** Notes that `offset` was reached at `at`, unless something close to it is noted already. Nobody waits for it. */
  note(offset: number, at: number): void {
    if (this.#last !== undefined && !this.#isDue(offset, at)) {
      this.#passed = { offset, at };
      return;
    }
    this.#noting = this.#noting.then(() => this.#note(offset, at));
  }

  /** Resolves when what was noted is in the file, the newest too. */
  async noted(): Promise<void> {
    this.#noting = this.#noting.then(() => this.#notePassed(Infinity));
    await this.#noting;
  }

  async #note(offset: number, at: number): Promise<void> {
    try {
      this.#handle ??= await this.#open();
      if (!this.#isDue(offset, at)) {
        this.#passed = { offset, at };
        return;
      }
      if (this.#passed !== undefined && this.#passed.offset < offset) await this.#notePassed(at);
      await this.#write(this.#handle, { offset, at });
    } catch {
      // The bytes are stored; a half record is overwritten by the next one.
    }
  }

  /** The end of a burst before a pause: without it, its last bytes would seem to have come with the next one. */
  async #notePassed(at: number): Promise<void> {
    const passed = this.#passed;
    this.#passed = undefined;
    if (passed === undefined || this.#handle === undefined || at - passed.at < this.#pauseMs) return;
    if (passed.offset > (this.#last?.offset ?? 0)) await this.#write(this.#handle, passed).catch(() => undefined);
  }

  async #write(handle: FileHandle, { offset, at }: IndexRecord): Promise<void> {
    // Never back in time: the search relies on it.
    const record = { offset, at: Math.max(at, this.#last?.at ?? 0) };
    await handle.write(encode(record), 0, RECORD_BYTES, this.#count * RECORD_BYTES);
    this.#count += 1;
    this.#last = record;
  }

  async close(): Promise<void> {
    await this.noted();
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async #open(): Promise<FileHandle> {
    const handle = await open(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      this.#count = await countRecords(handle);
      this.#last = this.#count > 0 ? await readRecord(handle, this.#count - 1) : undefined;
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  #isDue(offset: number, at: number): boolean {
    if (this.#last === undefined || offset - this.#last.offset >= EVERY_BYTES) return true;
    return at - this.#last.at >= this.#pauseMs;
  }

  get #pauseMs(): number {
    return EVERY_MS * (1 + Math.floor(this.#count / RECORDS_PER_PAUSE));
  }
}

/** All records of the index at `path`; none where it is missing. */
export async function readRecords(path: string): Promise<readonly IndexRecord[]> {
  const bytes = await readFile(path).catch(() => Buffer.alloc(0));
  return Array.from({ length: Math.floor(bytes.length / RECORD_BYTES) }, (_, index) => recordAt(bytes, index));
}

/** The largest offset in the index at `path` that had been reached at `atMs`. */
export async function findOffsetAt(path: string, atMs: number): Promise<number | undefined> {
  const handle = await open(path, "r").catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    let low = 0;
    let high = await countRecords(handle);
    let found: number | undefined;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const record = await readRecord(handle, middle);
      if (record.at > atMs) {
        high = middle;
      } else {
        found = record.offset;
        low = middle + 1;
      }
    }
    return found;
  } finally {
    await handle.close();
  }
}

async function countRecords(handle: FileHandle): Promise<number> {
  return Math.floor((await handle.stat()).size / RECORD_BYTES);
}

async function readRecord(handle: FileHandle, index: number): Promise<IndexRecord> {
  const { buffer } = await handle.read(Buffer.alloc(RECORD_BYTES), 0, RECORD_BYTES, index * RECORD_BYTES);
  return recordAt(buffer, 0);
}

function recordAt(bytes: Buffer, index: number): IndexRecord {
  const from = index * RECORD_BYTES;
  return { offset: bytes.readDoubleLE(from), at: bytes.readDoubleLE(from + 8) };
}

function encode({ offset, at }: IndexRecord): Buffer {
  const buffer = Buffer.alloc(RECORD_BYTES);
  buffer.writeDoubleLE(offset, 0);
  buffer.writeDoubleLE(at, 8);
  return buffer;
}
