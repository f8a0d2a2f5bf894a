/**
 * One reader of the log: its cursor, and nothing else. It pulls: live events come from memory, older ones from the
 * database in pages, so a reader that stops reading holds nothing back and keeps nothing in memory (LOG-11, LOG-12).
 */
import type { StoredEvent } from "../../domain/event.ts";

/** Events of one batch at most. */
export const BATCH_EVENTS = 1_000;

export type FeedPage = { readonly events: readonly StoredEvent[]; readonly through: number };

/** `isLast` says that there was nothing after it. */
export type RecentPage = FeedPage & { readonly isLast: boolean };

/** `removed` is the largest sequence that had been removed then. */
export type StoredPage = FeedPage & { readonly removed: number };

/** Where a feed gets its events from. */
export type FeedSource = {
  /** Undefined when memory doesn't reach back to `cursor`. */
  recent(cursor: number): RecentPage | undefined;
  /** No cursor stands for the oldest that is kept. Rejects if more than `tolerated` was removed after the cursor. */
  stored(cursor: number | undefined, tolerated: number): Promise<StoredPage>;
  /** Calls `wake` once, when there is more to read or when the log ends. */
  wait(wake: () => void): Disposable;
  /** Set when the log is closed or has died. */
  ended(): { readonly error: Error | undefined } | undefined;
};

type Result = IteratorResult<readonly StoredEvent[], undefined>;

export class Feed implements AsyncIterableIterator<readonly StoredEvent[], undefined> {
  readonly #source: FeedSource;
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => this.#finish();
  #cursor: number | undefined;
  /**
   * What was gone when it began at the oldest event. Kept decisions lie among removed output, so its cursor stays
   * below the largest removed sequence for a while without anything having been taken from it.
   */
  #tolerated = 0;
  #done = false;
  #interrupt: (() => void) | undefined;
  #turn: Promise<unknown> | undefined;

  constructor(source: FeedSource, after: number | undefined, signal: AbortSignal) {
    this.#source = source;
    this.#cursor = after;
    this.#signal = signal;
    if (signal.aborted) this.#done = true;
    else signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Result> {
    const turn = this.#turn === undefined ? this.#pull() : this.#turn.then(() => this.#pull());
    const settled = turn.then(noop, noop);
    this.#turn = settled;
    try {
      return await turn;
    } catch (error) {
      this.#finish();
      throw error;
    } finally {
      if (this.#turn === settled) this.#turn = undefined;
    }
  }

  async return(): Promise<Result> {
    this.#finish();
    return { done: true, value: undefined };
  }

  async #pull(): Promise<Result> {
    while (!this.#done) {
      const ended = this.#source.ended();
      if (ended?.error !== undefined) throw ended.error;
      if (ended !== undefined) break;
      const recent = this.#cursor === undefined ? undefined : this.#source.recent(this.#cursor);
      const page = recent ?? (await this.#readStored());
      if (page === undefined || this.#done) break;
      this.#cursor = Math.max(this.#cursor ?? 0, page.through);
      if (page.events.length > 0) return { done: false, value: page.events };
      // Any other page may be empty only because the filter matched nothing so far.
      if (recent?.isLast === true) await this.#untilMore();
    }
    this.#finish();
    return { done: true, value: undefined };
  }

  async #readStored(): Promise<FeedPage | undefined> {
    const page = await this.#untilInterrupted(this.#source.stored(this.#cursor, this.#tolerated));
    if (this.#cursor === undefined) this.#tolerated = page?.removed ?? 0;
    return page;
  }

  async #untilMore(): Promise<void> {
    let waiting: Disposable | undefined;
    await new Promise<void>((resolve) => {
      this.#interrupt = resolve;
      waiting = this.#source.wait(resolve);
    });
    waiting?.[Symbol.dispose]();
    this.#interrupt = undefined;
  }

  /** Not Promise.race: it would leave a reaction behind on a promise that lives as long as the feed. */
  async #untilInterrupted(page: Promise<StoredPage>): Promise<StoredPage | undefined> {
    try {
      return await new Promise((resolve, reject) => {
        this.#interrupt = () => resolve(undefined);
        page.then(resolve, reject);
      });
    } finally {
      this.#interrupt = undefined;
    }
  }

  #finish(): void {
    this.#done = true;
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#interrupt?.();
  }
}

function noop(): void {}
