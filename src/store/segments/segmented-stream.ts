/**
 * One stream's files. The end of the newest segment is the end of the stream; a segment is named by the offset of
 * its first byte, and each begins where the one before it ends. A write that failed half way is cut off again, so
 * that nothing is readable that was not acknowledged (BYT-4).
 */
import { constants, writeSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { CursorExpired, type Reached, StorageFailed } from "../../hub/ports.ts";
import { findOffsetAt, readRecords, SegmentIndex } from "./segment-index.ts";

const SEGMENT_NAME = /^(\d{16})\.seg$/;

const SHORT_BYTES = 16 * 1024;

type Segment = { readonly start: number; length: number };

type Tail = { readonly segment: Segment; readonly handle: FileHandle; readonly index: SegmentIndex };

export class SegmentedStream {
  readonly #directory: string;
  readonly #segmentBytes: number;
  #segments: Segment[];
  /** The newest segment, once something was appended. */
  #tail: Tail | undefined;
  #torn = false;

  private constructor(directory: string, segmentBytes: number, segments: Segment[]) {
    this.#directory = directory;
    this.#segmentBytes = segmentBytes;
    this.#segments = segments;
  }

  static async load(directory: string, segmentBytes: number): Promise<SegmentedStream> {
    const names = await readdir(directory).catch(emptyIfMissing);
    const starts = names.flatMap((name) => SEGMENT_NAME.exec(name)?.[1] ?? []).sort();
    const segments: Segment[] = [];
    for (const start of starts) {
      const { size } = await stat(join(directory, `${start}.seg`));
      segments.push({ start: Number(start), length: size });
    }
    return new SegmentedStream(directory, segmentBytes, lastRun(segments));
  }

  /** Bytes that were not acknowledged are in the file and could not be cut off yet: only this object knows. */
  get torn(): boolean {
    return this.#torn;
  }

  get size(): number {
    const newest = this.#segments.at(-1);
    return newest === undefined ? 0 : newest.start + newest.length;
  }

  get oldest(): number {
    return this.#segments[0]?.start ?? 0;
  }

  async append(offset: number, bytes: Uint8Array, now: number): Promise<{ ok: boolean; size: number }> {
    if (offset !== this.size) return { ok: false, size: this.size };
    if (bytes.length === 0) return { ok: true, size: this.size };
    try {
      await this.#mend();
      const tail = await this.#tailForAppend();
      await this.#write(tail, bytes);
      tail.segment.length += bytes.length;
      tail.index.note(this.size, now);
    } catch (cause) {
      throw new StorageFailed(`Output could not be stored in ${this.#directory}.`, { cause });
    }
    return { ok: true, size: this.size };
  }

  async read(offset: number, maxBytes: number): Promise<Uint8Array> {
    const end = Math.min(this.size, offset + maxBytes);
    if (offset < this.oldest) throw new CursorExpired(this.oldest);
    if (end <= offset) return new Uint8Array(0);
    // Not from the shared pool: the caller may keep a slice of it for long.
    const bytes = Buffer.allocUnsafeSlow(end - offset);
    for (let at = offset; at < end;) {
      const segment = this.#segments.findLast((it) => it.start <= at);
      if (segment === undefined) throw new CursorExpired(this.oldest); // pruned meanwhile
      const until = Math.min(end, segment.start + segment.length);
      await this.#readSegment(segment, at, bytes.subarray(at - offset, until - offset));
      at = until;
    }
    return bytes;
  }

  async offsetAt(atMs: number): Promise<number> {
    await this.#tail?.index.noted();
    for (const segment of this.#segments.toReversed()) {
      const found = await findOffsetAt(this.#path(segment, "idx"), atMs);
      // After a loss of power the index may be ahead of the bytes.
      if (found !== undefined) return Math.max(this.oldest, Math.min(found, this.size));
    }
    return this.oldest;
  }

  /** When which offset was reached, oldest first. */
  async times(): Promise<Reached[]> {
    await this.#tail?.index.noted();
    const reached: Reached[] = [];
    let last: Reached = [0, this.oldest];
    for (const segment of this.#segments) {
      for (const { offset, at } of await readRecords(this.#path(segment, "idx"))) {
        if (!(offset > last[1]) || offset > this.size || !Number.isFinite(at)) continue;
        last = [Math.max(at, last[0]), offset];
        reached.push(last);
      }
    }
    return reached;
  }

  async prune(maxBytes: number): Promise<number> {
    let removed = 0;
    while (this.#segments.length > 1 && this.size - this.oldest > maxBytes) {
      const segment = this.#segments.shift()!;
      removed += segment.length;
      await rm(this.#path(segment, "seg"), { force: true });
      await rm(this.#path(segment, "idx"), { force: true });
    }
    return removed;
  }

  /** As if nothing had ever been stored, once the caller has removed the files. */
  async forget(): Promise<void> {
    this.#segments = [];
    this.#torn = false;
    await this.close();
  }

  async close(): Promise<void> {
    const tail = this.#tail;
    this.#tail = undefined;
    try {
      await tail?.handle.close();
    } finally {
      await tail?.index.close();
    }
  }

  async #mend(): Promise<void> {
    if (!this.#torn || this.#tail === undefined) return;
    await this.#tail.handle.truncate(this.#tail.segment.length);
    this.#torn = false;
  }

  async #tailForAppend(): Promise<Tail> {
    const newest = this.#segments.at(-1);
    const next = newest === undefined || newest.length >= this.#segmentBytes;
    if (this.#tail !== undefined && !next) return this.#tail;
    if (next) await this.close();
    const segment = next ? { start: this.size, length: 0 } : newest;
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    // Without O_APPEND, under which Linux ignores the position of a write.
    const handle = await open(this.#path(segment, "seg"), constants.O_RDWR | constants.O_CREAT, 0o600);
    this.#tail = { segment, handle, index: new SegmentIndex(this.#path(segment, "idx")) };
    if (next) this.#segments.push(segment);
    return this.#tail;
  }

  async #write({ handle, segment }: Tail, bytes: Uint8Array): Promise<void> {
    try {
      for (let done = 0; done < bytes.length;) {
        done += await writeSome(handle, bytes.subarray(done), segment.length + done);
      }
    } catch (error) {
      this.#torn = true;
      await this.#mend().catch(() => undefined); // tried again before the next append
      throw error;
    }
  }

  async #readSegment(segment: Segment, from: number, into: Uint8Array): Promise<void> {
    if (this.#tail?.segment === segment) return await readFully(this.#tail.handle, from - segment.start, into);
    const handle = await open(this.#path(segment, "seg"), "r").catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") throw new CursorExpired(this.oldest);
      throw error;
    });
    try {
      await readFully(handle, from - segment.start, into);
    } finally {
      await handle.close();
    }
  }

  #path(segment: Segment, extension: "seg" | "idx"): string {
    return join(this.#directory, `${String(segment.start).padStart(16, "0")}.${extension}`);
  }
}

/**
 * A short piece goes into the page cache in a tenth of the time of the thread pool's two wake-ups, and every answer waits
 * for it. A long one is the pool's: what a disk that can't follow holds up is this stream and not the hub.
 */
async function writeSome(handle: FileHandle, bytes: Uint8Array, position: number): Promise<number> {
  if (bytes.length <= SHORT_BYTES) return writeSync(handle.fd, bytes, 0, bytes.length, position);
  return (await handle.write(bytes, 0, bytes.length, position)).bytesWritten;
}

async function readFully(handle: FileHandle, position: number, into: Uint8Array): Promise<void> {
  for (let done = 0; done < into.length;) {
    const { bytesRead } = await handle.read(into, done, into.length - done, position + done);
    if (bytesRead === 0) throw new StorageFailed("A file of stored output is shorter than it was.");
    done += bytesRead;
  }
}

/** The newest segments without a gap: what lies before a gap would be read as if it came right before the rest. */
function lastRun(segments: readonly Segment[]): Segment[] {
  const isGap = (segment: Segment, index: number): boolean => {
    const next = segments[index + 1];
    return next !== undefined && segment.start + segment.length !== next.start;
  };
  return segments.slice(segments.findLastIndex(isGap) + 1);
}

export function emptyIfMissing(error: unknown): string[] {
  if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
  throw error;
}
