/**
 * Output of sessions: bytes go to the byte store first, then an event says where they are, so that an event never
 * covers bytes that aren't there (BYT-1). Events are coalesced: output is not one log row per chunk.
 */
import type { Actor } from "../domain/actor.ts";
import type { Logger } from "../lib/logger.ts";
import type { Journal } from "./journal.ts";
import { type ByteStore, StorageFailed } from "./ports.ts";
import { AppError } from "../protocol/errors.ts";

/** At most ten `stdout` events a second for one session. */
const COALESCE_MS = 100;
/** Text rides in the event only while it is small; otherwise readers fetch the range. */
const TEXT_LIMIT = 4096;
const READ_CHUNK = 64 * 1024;

export type OutputChunk = { readonly cursor: number; readonly bytes: Uint8Array };

type Stream = {
  size: number;
  announced: number;
  source: Actor;
  timer: NodeJS.Timeout | undefined;
  lastEventAt: number;
  /** Writes, one after the other. */
  tail: Promise<unknown>;
  /** Events, one after the other: two at once would announce the same bytes twice. */
  announcing: Promise<unknown>;
  readonly wake: Set<() => void>;
  closed: boolean;
};

export class OutputDesk {
  readonly #bytes: ByteStore;
  readonly #journal: Journal;
  readonly #logger: Logger;
  readonly #streams = new Map<string, Promise<Stream>>();

  constructor(bytes: ByteStore, journal: Journal, logger: Logger) {
    this.#bytes = bytes;
    this.#journal = journal;
    this.#logger = logger;
  }

  /** Resolves when the bytes are stored. Calls for one session keep their order. */
  async write(sessionId: string, source: Actor, bytes: Uint8Array): Promise<void> {
    const stream = await this.#open(sessionId);
    const stored = stream.tail.then(() => this.#store(sessionId, stream, bytes));
    stream.tail = stored.catch(() => undefined);
    await stored;
    stream.source = source;
    for (const wake of stream.wake) wake();
    this.#schedule(sessionId, stream);
  }

  async size(sessionId: string): Promise<number> {
    return (await this.#open(sessionId)).size;
  }

  /**
   * Bytes from `cursor` on, stored then live. The reader's own pace decides: nothing is queued for it, a slow one
   * reads from the store later.
   */
  async *read(sessionId: string, cursor: number, signal: AbortSignal): AsyncGenerator<OutputChunk> {
    const stream = await this.#open(sessionId);
    let at = cursor;
    while (!signal.aborted) {
      const bytes = await this.#bytes.read(sessionId, at, READ_CHUNK);
      if (bytes.length > 0) {
        yield { cursor: at, bytes };
        at += bytes.length;
      } else if (stream.closed) {
        return;
      } else if (stream.size <= at) {
        await woken(stream, signal);
      }
    }
  }

  /** Announces what is stored and lets readers come to their end. */
  async close(sessionId: string): Promise<void> {
    const stream = await this.#open(sessionId);
    await stream.tail;
    clearTimeout(stream.timer);
    await this.#announce(sessionId, stream);
    stream.closed = true;
    for (const wake of stream.wake) wake();
    this.#streams.delete(sessionId);
  }

  async #store(sessionId: string, stream: Stream, bytes: Uint8Array): Promise<void> {
    try {
      const result = await this.#bytes.append(sessionId, stream.size, bytes);
      if (!result.ok) throw new Error(`output of ${sessionId} stands at ${result.size}, not at ${stream.size}`);
      stream.size = result.size;
    } catch (error) {
      if (!(error instanceof StorageFailed)) throw error;
      throw new AppError("storage_unavailable", {}, { cause: error });
    }
  }

  #open(sessionId: string): Promise<Stream> {
    const known = this.#streams.get(sessionId);
    if (known !== undefined) return known;
    const opening = this.#bytes.size(sessionId).then((size): Stream => ({
      size,
      announced: size,
      source: { kind: "host", id: "local" },
      timer: undefined,
      lastEventAt: 0,
      tail: Promise.resolve(),
      announcing: Promise.resolve(),
      wake: new Set(),
      closed: false,
    }));
    this.#streams.set(sessionId, opening);
    return opening;
  }

  #schedule(sessionId: string, stream: Stream): void {
    if (stream.timer !== undefined) return;
    const wait = Math.max(0, stream.lastEventAt + COALESCE_MS - performance.now());
    stream.timer = setTimeout(() => {
      stream.timer = undefined;
      this.#announce(sessionId, stream).catch((error: unknown) => {
        this.#logger.error("an output event could not be stored", { session: sessionId, error });
        // Readers of the log must still learn of these bytes once there is room.
        this.#schedule(sessionId, stream);
      });
    }, wait);
  }

  #announce(sessionId: string, stream: Stream): Promise<void> {
    const announced = stream.announcing.then(() => this.#announceNow(sessionId, stream));
    stream.announcing = announced.catch(() => undefined);
    return announced;
  }

  async #announceNow(sessionId: string, stream: Stream): Promise<void> {
    const cursor = stream.announced;
    const length = stream.size - cursor;
    if (length === 0) return;
    stream.lastEventAt = performance.now();
    const small = length <= TEXT_LIMIT ? await this.#bytes.read(sessionId, cursor, length) : undefined;
    const payload = { cursor, length, ...(small === undefined ? {} : { text: new TextDecoder().decode(small) }) };
    await this.#journal.note(sessionId, "process", [{ type: "stdout", payload, source: stream.source, cursor }]);
    stream.announced = cursor + length;
  }
}

function woken(stream: Stream, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.wake.delete(done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    stream.wake.add(done);
    signal.addEventListener("abort", done);
    if (signal.aborted || stream.closed) done();
  });
}
