/**
 * Output of sessions: bytes go to the byte store first, then an event says where they are, so that an event never
 * covers bytes that aren't there. Events are coalesced: output is not one log row per chunk (SES-15).
 *
 * `stored` is how far the bytes reach; `settled` is how far every recorded fact is known too. A viewer follows the
 * first; a wait follows the second, or its answer would depend on which of two arrived sooner (WAI-1).
 */
import type { Actor } from "../domain/actor.ts";
import type { NewEvent } from "../domain/event.ts";
import type { Logger } from "../lib/logger.ts";
import { wholeCharacters } from "../lib/whole-characters.ts";
import { AppError } from "../protocol/errors.ts";
import type { Journal } from "./journal.ts";
import { LiveOutput, type Reach } from "./live-output.ts";
import { type ByteStore, StorageFailed } from "./ports.ts";

/** At most ten `stdout` events a second for one session. */
const COALESCE_MS = 100;
const LEAST_MS = 30;
/** Text rides in the event only while it is small; otherwise readers fetch the range. */
const TEXT_LIMIT = 4096;
const READ_CHUNK = 64 * 1024;

export type OutputChunk = { readonly cursor: number; readonly bytes: Uint8Array };

/** Bytes are missing that the host has no more: what was acknowledged got lost. */
export class OutputHole extends Error {
  override readonly name = "OutputHole";

  constructor(sessionId: string, size: number, cursor: number) {
    super(`output of ${sessionId} stands at ${size}; ${cursor} would leave a hole`);
  }
}

export class OutputDesk {
  readonly #bytes: ByteStore;
  readonly #journal: Journal;
  readonly #logger: Logger;
  readonly #live = new Map<string, LiveOutput>();
  #stopped = false;

  constructor(bytes: ByteStore, journal: Journal, logger: Logger) {
    this.#bytes = bytes;
    this.#journal = journal;
    this.#logger = logger;
  }

  /** Before a session's first byte, and again when it is taken up after a restart. Answers how far it is known. */
  async begin(sessionId: string, source: Actor): Promise<{ readonly order: number; readonly cursor: number }> {
    const [size, announced, placed] = await Promise.all([
      this.#bytes.size(sessionId),
      this.#announcedBefore(sessionId),
      this.#journal.log.lastPlaced(sessionId),
    ]);
    const order = placed?.position ?? 0;
    const settled = { cursor: Math.min(size, placed?.cursor ?? 0), order };
    const live = new LiveOutput({ source, size, settled, announced: Math.min(size, announced ?? 0) });
    this.#live.set(sessionId, live);
    return { order, cursor: size };
  }

  /** Stores what is new of bytes that a host tells (again). One call at a time for one session. */
  async store(sessionId: string, cursor: number, bytes: Uint8Array): Promise<void> {
    // Whatever is answered now is acknowledged, and then nobody has it any more.
    if (this.#stopped) throw new AppError("storage_unavailable", { detail: "The hub goes down" });
    const live = this.#live.get(sessionId);
    if (live === undefined || live.over) return;
    const known = live.size - cursor;
    if (known < 0) throw new OutputHole(sessionId, live.size, cursor);
    if (known >= bytes.length) return;
    const fresh = bytes.subarray(known);
    try {
      const result = await this.#bytes.append(sessionId, live.size, fresh);
      if (!result.ok) throw new Error(`output of ${sessionId} stands at ${result.size}, not at ${live.size}`);
      live.grow(fresh);
    } catch (error) {
      if (!(error instanceof StorageFailed)) throw error;
      throw new AppError("storage_unavailable", {}, { cause: error });
    }
  }

  /** Everything up to `order` and up to the last stored byte is known now. */
  settle(sessionId: string, order: number): void {
    const live = this.#live.get(sessionId);
    if (live === undefined || live.over) return;
    live.settle(order);
    this.#schedule(sessionId, live);
  }

  async size(sessionId: string): Promise<number> {
    return this.#live.get(sessionId)?.size ?? (await this.#bytes.size(sessionId));
  }

  async oldest(sessionId: string): Promise<number> {
    return this.#bytes.oldest(sessionId);
  }

  /** How far a wait may look: undefined for a session that is over, of which everything is known. */
  settled(sessionId: string): Reach | undefined {
    return this.#live.get(sessionId)?.settled;
  }

  /** Resolves when the settled reach has passed `seen`, the session is over, or the signal is aborted. */
  async advanced(sessionId: string, seen: Reach, signal: AbortSignal): Promise<void> {
    const live = this.#live.get(sessionId);
    if (live === undefined || live.settled.order > seen.order || live.settled.cursor > seen.cursor) return;
    await live.woken("settled", signal);
  }

  /** All of a stored range. */
  async all(sessionId: string, from: number, to: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    for (let at = from; at < to;) {
      const bytes = await this.range(sessionId, at, to - at);
      if (bytes.length === 0) break;
      parts.push(bytes);
      at += bytes.length;
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  /** The beginning of a stored range, at most `maxBytes` of it; empty at the end. */
  async range(sessionId: string, cursor: number, maxBytes: number): Promise<Uint8Array> {
    return this.#live.get(sessionId)?.recent(cursor, maxBytes) ?? (await this.#bytes.read(sessionId, cursor, maxBytes));
  }

  /**
   * Bytes from `cursor` on, stored then live; ends with the session. The reader's own pace decides: nothing is queued
   * for it, a slow one reads from the store later.
   */
  async *read(sessionId: string, cursor: number, signal: AbortSignal): AsyncGenerator<OutputChunk> {
    let at = cursor;
    while (!signal.aborted) {
      const live = this.#live.get(sessionId);
      const bytes = await this.range(sessionId, at, READ_CHUNK);
      if (bytes.length > 0) {
        yield { cursor: at, bytes };
        at += bytes.length;
      } else if (live === undefined || live.released) {
        return;
      } else if (live.size <= at) {
        await live.woken("stored", signal);
      }
    }
  }

  /** Announces all that is stored: nothing more comes. */
  async announce(sessionId: string): Promise<void> {
    const live = this.#live.get(sessionId);
    if (live !== undefined) await this.#finish(sessionId, live);
  }

  /** Lets readers come to their end. */
  release(sessionId: string): void {
    this.#live.get(sessionId)?.end();
    this.#live.delete(sessionId);
  }

  /** Before the stores are closed: nothing is announced afterwards; what could not be is found at the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const all = [...this.#live].map(([sessionId, live]) => this.#finish(sessionId, live));
    await Promise.allSettled(all);
    this.#live.clear();
  }

  async #finish(sessionId: string, live: LiveOutput): Promise<void> {
    live.over = true;
    clearTimeout(live.timer);
    await this.#announce(sessionId, live);
  }

  #schedule(sessionId: string, live: LiveOutput): void {
    if (live.timer !== undefined || live.over || live.announced >= live.settled.cursor) return;
    // Never at once: what follows a first byte belongs to it, and what is waited for is stored before this.
    const wait = Math.max(LEAST_MS, live.lastEventAt + COALESCE_MS - performance.now());
    live.timer = setTimeout(() => {
      live.timer = undefined;
      this.#announce(sessionId, live).catch((error: unknown) => {
        this.#logger.error("an output event could not be stored", { session: sessionId, error });
        // Readers of the log must still learn of these bytes once there is room.
        this.#schedule(sessionId, live);
      });
    }, wait);
  }

  #announce(sessionId: string, live: LiveOutput): Promise<void> {
    const announced = live.announcing.then(() => this.#announceNow(sessionId, live));
    live.announcing = announced.catch(() => undefined);
    return announced;
  }

  async #announceNow(sessionId: string, live: LiveOutput): Promise<void> {
    const cursor = live.announced;
    // A position may be written only once all before it is: after a crash the host is asked for what comes after.
    const { cursor: end, order } = live.settled;
    let length = (live.over ? live.size : end) - cursor;
    if (length <= 0) return;
    live.lastEventAt = performance.now();
    let text: { text?: string } = {};
    if (length <= TEXT_LIMIT) {
      const bytes = await this.all(sessionId, cursor, cursor + length);
      // A character that is still on its way waits for its rest, unless nothing more can come.
      if (!live.over) length = wholeCharacters(bytes);
      if (length === 0) return;
      text = { text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, length)) };
    }
    const event: NewEvent = { type: "stdout", payload: { cursor, length, ...text }, source: live.source, cursor };
    await this.#journal.note(sessionId, "process", [order > 0 ? { ...event, position: order } : event]);
    live.announced = cursor + length;
  }

  /** How far a former hub got. */
  async #announcedBefore(sessionId: string): Promise<number | undefined> {
    const last = await this.#journal.log.last(sessionId, "stdout");
    const { cursor, length } = (last?.payload ?? {}) as { cursor?: number; length?: number };
    return last === undefined ? undefined : (cursor ?? 0) + (length ?? 0);
  }
}
