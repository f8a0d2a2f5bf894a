/**
 * Reads updates for ever. Telegram forgets all before the offset that it is asked with, so that is never beyond an update that
 * isn't dealt with. One that takes long holds up nobody: those after it are read meanwhile, begun in their order.
 * Rules CHN-62..CHN-66 in docs/spec/channels.md.
 */
import type { Update } from "grammy/types";
import { TelegramFailed } from "./failures.ts";
import { pause } from "./pauses.ts";
import type { Pauses } from "./pauses.ts";

export type PollerParts = {
  read(offset: number, waitSeconds: number, signal?: AbortSignal): Promise<readonly Update[]>;
  /** Never rejects. False: it has to come again after a restart. */
  handle(update: Update): Promise<boolean>;
  /** How reading goes: nothing means well. */
  tell(failure: unknown): void;
  readonly waitSeconds: number;
  readonly pauses: Pauses;
};

/** Between two looks for what is new while something is being dealt with: Telegram answers at once then, with what we know. */
const LOOK_AGAIN_MS = 300;
const HANDLING_MAX_MS = 5_000;

export class Poller {
  readonly #parts: PollerParts;
  readonly #stopping = new AbortController();
  readonly #open = new Map<number, Promise<void>>();
  /** Dealt with, and not known to be forgotten by Telegram. */
  readonly #done = new Set<number>();
  #next = 0;
  #running: Promise<void> | undefined;

  constructor(parts: PollerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running = this.#run(this.#stopping.signal);
  }

  /** What is under way may end; then Telegram is told how far we are, so that it doesn't come again. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await this.#settled(HANDLING_MAX_MS);
    if (this.#done.size > 0) await this.#parts.read(this.#offset(), 0).catch(() => undefined);
  }

  async #run(signal: AbortSignal): Promise<void> {
    // The first look doesn't wait: it tells at once whether all is well.
    let waitSeconds = 0;
    while (!signal.aborted) {
      const offset = this.#offset();
      try {
        const updates = await this.#parts.read(offset, waitSeconds, signal);
        if (signal.aborted) return;
        this.#parts.tell(undefined);
        this.#parts.pauses.reset();
        for (const id of this.#done) if (id < offset) this.#done.delete(id);
        this.#take(updates);
        waitSeconds = this.#parts.waitSeconds;
      } catch (error) {
        if (signal.aborted) return;
        this.#parts.tell(error);
        const failed = error instanceof TelegramFailed ? error : undefined;
        await pause(Math.max(this.#parts.pauses.nextMs(), failed?.retryAfterMs ?? 0), signal);
        // Of two readers each succeeds with short looks: only a whole one tells that the other is gone.
        waitSeconds = failed?.status === 409 ? this.#parts.waitSeconds : 0;
      }
      if (this.#open.size > 0) await this.#settled(LOOK_AGAIN_MS);
    }
  }

  #offset(): number {
    return this.#open.size > 0 ? Math.min(...this.#open.keys()) : this.#next;
  }

  #take(updates: readonly Update[]): void {
    for (const update of updates.toSorted((a, b) => a.update_id - b.update_id)) {
      const id = update.update_id;
      // After a week of silence Telegram begins anew at any number, a lower one too.
      this.#next = id + 1;
      if (this.#open.has(id) || this.#done.has(id)) continue;
      this.#open.set(id, this.#dealWith(update));
    }
  }

  async #dealWith(update: Update): Promise<void> {
    if (!(await this.#parts.handle(update))) return;
    this.#open.delete(update.update_id);
    this.#done.add(update.update_id);
  }

  async #settled(mostMs: number): Promise<void> {
    const timer = new AbortController();
    await Promise.race([Promise.all(this.#open.values()), pause(mostMs, timer.signal)]);
    timer.abort();
  }
}
