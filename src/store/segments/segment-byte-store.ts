/**
 * Output bytes in append-only files: `<data-dir>/bytes/<stream>/<offset>.seg`. Operations on one stream that change
 * it follow one another; reads see only what an append was answered for. Rules in docs/spec/bytes.md.
 */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type ByteStore, type Reached, StorageFailed } from "../../hub/ports.ts";
import { emptyIfMissing, SegmentedStream } from "./segmented-stream.ts";
import { asStorageFailed } from "./storage-errors.ts";

/** Streams held open: two descriptors each. */
const OPEN_STREAMS = 64;

const SEGMENT_BYTES = 8 * 1024 * 1024;

const STREAM_NAME = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export type SegmentByteStoreOptions = {
  readonly now: () => number;
  /** Size from which a segment is followed by another. */
  readonly segmentBytes?: number;
  readonly openStreams?: number;
};

type Slot = {
  readonly stream: Promise<SegmentedStream>;
  loaded: SegmentedStream | undefined;
  users: number;
  /** Settles when the last change that was asked for is over. */
  tail: Promise<unknown>;
};

export class SegmentByteStore implements ByteStore {
  readonly #directory: string;
  readonly #now: () => number;
  readonly #segmentBytes: number;
  readonly #openStreams: number;
  /** In the order of their last use. */
  readonly #slots = new Map<string, Slot>();
  readonly #running = new Set<Promise<void>>();
  #closed = false;

  constructor(dataDir: string, options: SegmentByteStoreOptions) {
    this.#directory = join(dataDir, "bytes");
    this.#now = options.now;
    this.#segmentBytes = options.segmentBytes ?? SEGMENT_BYTES;
    this.#openStreams = options.openStreams ?? OPEN_STREAMS;
  }

  async size(stream: string): Promise<number> {
    return await this.#use(stream, (it) => it.size);
  }

  async oldest(stream: string): Promise<number> {
    return await this.#use(stream, (it) => it.oldest);
  }

  async append(stream: string, offset: number, bytes: Uint8Array): Promise<{ ok: boolean; size: number }> {
    return await this.#inTurn(stream, (it) => it.append(offset, bytes, this.#now()));
  }

  async read(stream: string, offset: number, maxBytes: number): Promise<Uint8Array> {
    return await this.#use(stream, (it) => it.read(offset, maxBytes));
  }

  async offsetAt(stream: string, atMs: number): Promise<number> {
    return await this.#use(stream, (it) => it.offsetAt(atMs));
  }

  async times(stream: string): Promise<readonly Reached[]> {
    return await this.#use(stream, (it) => it.times());
  }

  /** Answers how many bytes were removed. */
  async prune(stream: string, maxBytes: number): Promise<number> {
    return await this.#inTurn(stream, (it) => it.prune(maxBytes));
  }

  async streams(): Promise<readonly string[]> {
    const names = await readdir(this.#directory)
      .catch(emptyIfMissing)
      .catch((error: unknown) => {
        throw asStorageFailed(error, this.#directory);
      });
    return names.filter((name) => STREAM_NAME.test(name));
  }

  async remove(stream: string): Promise<void> {
    await this.#inTurn(stream, async (it) => {
      await rm(this.#path(stream), { recursive: true, force: true });
      await it.forget();
    });
  }

  /** Waits for what was begun; refuses what comes later. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#running);
    for (const name of this.#slots.keys()) this.#close(name);
    await Promise.all(this.#running);
  }

  async #inTurn<T>(name: string, work: (stream: SegmentedStream) => Promise<T>): Promise<T> {
    return await this.#use(name, async (stream, slot) => {
      const turn = slot.tail.then(() => work(stream));
      slot.tail = turn.catch(() => undefined);
      return await turn;
    });
  }

  async #use<T>(name: string, work: (stream: SegmentedStream, slot: Slot) => T | Promise<T>): Promise<T> {
    if (this.#closed) throw new StorageFailed("The byte store is closed.");
    const slot = this.#slots.get(name) ?? this.#open(name);
    this.#slots.delete(name);
    this.#slots.set(name, slot);
    slot.users += 1;
    return await this.#track(async () => {
      try {
        return await work(await slot.stream, slot);
      } catch (error) {
        throw asStorageFailed(error, this.#path(name));
      } finally {
        slot.users -= 1;
        this.#closeIdle();
      }
    });
  }

  #open(name: string): Slot {
    const stream = SegmentedStream.load(this.#path(name), this.#segmentBytes);
    const slot: Slot = { stream, loaded: undefined, users: 0, tail: Promise.resolve() };
    stream.then(
      (loaded) => (slot.loaded = loaded),
      () => this.#slots.delete(name), // tried again by the next caller
    );
    return slot;
  }

  #closeIdle(): void {
    let excess = this.#slots.size - this.#openStreams;
    for (const [name, slot] of this.#slots) {
      if (excess <= 0) return;
      if (slot.users > 0 || slot.loaded?.torn === true) continue;
      this.#close(name);
      excess -= 1;
    }
  }

  #close(name: string): void {
    const slot = this.#slots.get(name);
    this.#slots.delete(name);
    if (slot?.loaded === undefined) return;
    const { loaded } = slot;
    void this.#track(() => loaded.close()).catch(() => undefined);
  }

  /** `close` waits for it, whether it fails or not. */
  #track<T>(work: () => Promise<T>): Promise<T> {
    const result = work();
    const over = result.then(noop, noop).finally(() => this.#running.delete(over));
    this.#running.add(over);
    return result;
  }

  #path(name: string): string {
    if (!STREAM_NAME.test(name)) throw new Error(`not a stream's name: ${JSON.stringify(name)}`);
    return join(this.#directory, name);
  }
}

function noop(): void {}
