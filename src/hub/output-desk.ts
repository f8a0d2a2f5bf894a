/**
 * Output of sessions: bytes go to the byte store first, then an event says where they are, so that an event never
 * covers bytes that aren't there. Events are coalesced: output is not one log row per chunk (SES-15).
 */
import type { Actor } from "../domain/actor.ts";
import type { Logger } from "../lib/logger.ts";
import { wholeCharacters } from "../lib/whole-characters.ts";
import { AppError } from "../protocol/errors.ts";
import type { Journal } from "./journal.ts";
import { type ByteStore, StorageFailed } from "./ports.ts";

/** At most ten `stdout` events a second for one session. */
const COALESCE_MS = 100;
/** Text rides in the event only while it is small; otherwise readers fetch the range. */
const TEXT_LIMIT = 4096;
const READ_CHUNK = 64 * 1024;

export type OutputChunk = { readonly cursor: number; readonly bytes: Uint8Array };

/** The output of one session that still runs. */
type Live = {
  readonly source: Actor;
  readonly wake: Set<() => void>;
  size: number;
  announced: number;
  lastEventAt: number;
  timer: NodeJS.Timeout | undefined;
  /** Writes, one after the other. */
  writing: Promise<unknown>;
  /** Events, one after the other: two at once would announce the same bytes twice. */
  announcing: Promise<unknown>;
  over: boolean;
};

export class OutputDesk {
  readonly #bytes: ByteStore;
  readonly #journal: Journal;
  readonly #logger: Logger;
  readonly #live = new Map<string, Live>();

  constructor(bytes: ByteStore, journal: Journal, logger: Logger) {
    this.#bytes = bytes;
    this.#journal = journal;
    this.#logger = logger;
  }

  /** Before a session's first byte, and again when it is taken up after a restart. */
  async begin(sessionId: string, source: Actor): Promise<void> {
    const [size, announced] = await Promise.all([this.#bytes.size(sessionId), this.#announcedBefore(sessionId)]);
    const past = Promise.resolve();
    const rest = { lastEventAt: 0, timer: undefined, writing: past, announcing: past, over: false };
    const live: Live = { source, wake: new Set(), size, announced: Math.min(size, announced ?? size), ...rest };
    this.#live.set(sessionId, live);
    if (live.announced < size) this.#schedule(sessionId, live);
  }

  /** Resolves when the bytes are stored. Calls for one session keep their order. */
  async write(sessionId: string, bytes: Uint8Array): Promise<void> {
    const live = this.#live.get(sessionId);
    if (live === undefined || live.over) {
      // A program's last words after it was stopped: the session's record is complete without them.
      this.#logger.debug("output after the end of a session", { session: sessionId, bytes: bytes.length });
      return;
    }
    const stored = live.writing.then(() => this.#store(sessionId, live, bytes));
    live.writing = stored.catch(() => undefined);
    await stored;
    for (const wake of live.wake) wake();
    this.#schedule(sessionId, live);
  }

  async size(sessionId: string): Promise<number> {
    return this.#live.get(sessionId)?.size ?? (await this.#bytes.size(sessionId));
  }

  /**
   * Bytes from `cursor` on, stored then live; ends with the session. The reader's own pace decides: nothing is queued
   * for it, a slow one reads from the store later.
   */
  async *read(sessionId: string, cursor: number, signal: AbortSignal): AsyncGenerator<OutputChunk> {
    let at = cursor;
    while (!signal.aborted) {
      const live = this.#live.get(sessionId);
      const bytes = await this.#bytes.read(sessionId, at, READ_CHUNK);
      if (bytes.length > 0) {
        yield { cursor: at, bytes };
        at += bytes.length;
      } else if (live === undefined || live.over) {
        return;
      } else if (live.size <= at) {
        await woken(live, signal);
      }
    }
  }

  /** Announces what is stored and lets readers come to their end. */
  async end(sessionId: string): Promise<void> {
    const live = this.#live.get(sessionId);
    if (live === undefined) return;
    try {
      await this.#finish(sessionId, live);
    } finally {
      this.#live.delete(sessionId);
      live.over = true;
      for (const wake of live.wake) wake();
    }
  }

  /** Before the stores are closed: nothing is announced afterwards; what could not be is found at the next start. */
  async stop(): Promise<void> {
    const all = [...this.#live].map(([sessionId, live]) => this.#finish(sessionId, live));
    await Promise.allSettled(all);
    this.#live.clear();
  }

  async #finish(sessionId: string, live: Live): Promise<void> {
    live.over = true;
    clearTimeout(live.timer);
    await live.writing;
    await this.#announce(sessionId, live);
  }

  async #store(sessionId: string, live: Live, bytes: Uint8Array): Promise<void> {
    try {
      const result = await this.#bytes.append(sessionId, live.size, bytes);
      if (!result.ok) throw new Error(`output of ${sessionId} stands at ${result.size}, not at ${live.size}`);
      live.size = result.size;
    } catch (error) {
      if (!(error instanceof StorageFailed)) throw error;
      throw new AppError("storage_unavailable", {}, { cause: error });
    }
  }

  #schedule(sessionId: string, live: Live): void {
    if (live.timer !== undefined || live.over) return;
    const wait = Math.max(0, live.lastEventAt + COALESCE_MS - performance.now());
    live.timer = setTimeout(() => {
      live.timer = undefined;
      this.#announce(sessionId, live).catch((error: unknown) => {
        this.#logger.error("an output event could not be stored", { session: sessionId, error });
        // Readers of the log must still learn of these bytes once there is room.
        this.#schedule(sessionId, live);
      });
    }, wait);
  }

  #announce(sessionId: string, live: Live): Promise<void> {
    const announced = live.announcing.then(() => this.#announceNow(sessionId, live));
    live.announcing = announced.catch(() => undefined);
    return announced;
  }

  async #announceNow(sessionId: string, live: Live): Promise<void> {
    const cursor = live.announced;
    let length = live.size - cursor;
    if (length === 0) return;
    live.lastEventAt = performance.now();
    let text: { text?: string } = {};
    if (length <= TEXT_LIMIT) {
      const bytes = await this.#bytes.read(sessionId, cursor, length);
      // A character that is still on its way waits for its rest, unless nothing more can come.
      if (!live.over) length = wholeCharacters(bytes);
      if (length === 0) return;
      text = { text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, length)) };
    }
    const payload = { cursor, length, ...text };
    await this.#journal.note(sessionId, "process", [{ type: "stdout", payload, source: live.source, cursor }]);
    live.announced = cursor + length;
  }

  /** How far a former hub got. */
  async #announcedBefore(sessionId: string): Promise<number | undefined> {
    const last = await this.#journal.log.last(sessionId, "stdout");
    const { cursor, length } = (last?.payload ?? {}) as { cursor?: number; length?: number };
    return last === undefined ? undefined : (cursor ?? 0) + (length ?? 0);
  }
}

function woken(live: Live, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      live.wake.delete(done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    live.wake.add(done);
    signal.addEventListener("abort", done);
    if (signal.aborted || live.over) done();
  });
}
