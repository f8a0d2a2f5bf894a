/**
 * Brings one session's frames into its intake: in order, in batches, one at a time, each once. What the intake has
 * taken is acknowledged; what it could not take is offered again, and nothing is acknowledged meanwhile (HST-14).
 */
import { setTimeout } from "node:timers/promises";
import type { SessionFrame } from "../../domain/session-frame.ts";
import type { SessionIntake } from "../../hub/ports.ts";

export type SessionFeedOptions = {
  /** Stored already. */
  readonly order: number;
  readonly intake: SessionIntake;
  readonly acknowledge: (order: number) => void;
  /** A frame is missing, which no correct host leaves out. */
  readonly onGap: (expected: number, came: number) => void;
  /** Its intake refuses. */
  readonly onTrouble: (error: unknown) => void;
  readonly onOver: () => void;
  /** So many bytes more, or fewer, wait to be stored. */
  readonly onWaiting?: (bytes: number) => void;
};

const BATCH_BYTES = 1024 * 1024;
const BATCH_FRAMES = 4096;
const RETRY_FIRST_MS = 100;
const RETRY_MOST_MS = 5_000;

export class SessionFeed {
  readonly #options: SessionFeedOptions;
  readonly #stopped = new AbortController();
  #queue: SessionFrame[] = [];
  /** Of each frame in the queue. */
  #sizes: number[] = [];
  #received: number;
  #stored: number;
  #running: Promise<void> | undefined;
  #confirmed = false;
  #awaited: { readonly order: number; readonly resolve: (isStored: boolean) => void } | undefined;

  constructor(options: SessionFeedOptions) {
    this.#options = options;
    this.#received = options.order;
    this.#stored = options.order;
  }

  /** From now on every frame follows the last; before, some of an earlier adoption may still have been on their way. */
  confirm(): void {
    this.#confirmed = true;
  }

  /** Whether it is the next; one that comes too early is told of. */
  expects(order: number): boolean {
    if (order <= this.#received || this.#stopped.signal.aborted) return false;
    if (order === this.#received + 1) return true;
    if (this.#confirmed) this.#options.onGap(this.#received + 1, order);
    return false;
  }

  take(frame: SessionFrame, bytes = 0): void {
    if (!this.expects(frame.order)) return;
    this.#received = frame.order;
    this.#queue.push(frame);
    this.#sizes.push(bytes);
    this.#options.onWaiting?.(bytes);
    // What came together is stored together.
    this.#running ??= Promise.resolve().then(() => this.#run());
  }

  /** Resolves when everything up to `order` is stored; with false when it was stopped before. */
  until(order: number): Promise<boolean> {
    if (this.#stored >= order) return Promise.resolve(true);
    if (this.#stopped.signal.aborted) return Promise.resolve(false);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#awaited = { order, resolve };
    return promise;
  }

  /** Forgets what the intake was not yet offered; resolves with the order up to which all is stored. */
  async stop(): Promise<number> {
    this.#stopped.abort();
    await this.#running;
    this.#queue = [];
    this.#letGo(total(this.#sizes.splice(0)));
    this.#tellAwaited();
    return this.#stored;
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0 && !this.#stopped.signal.aborted) {
      const batch = this.#nextBatch();
      const bytes = total(this.#sizes.splice(0, batch.length));
      const isStored = await this.#store(batch);
      this.#letGo(bytes);
      if (!isStored) break;
      this.#stored = batch.at(-1)!.order;
      this.#options.acknowledge(this.#stored);
      this.#tellAwaited();
      if (batch.at(-1)!.kind === "exit") this.#options.onOver();
    }
    this.#running = undefined;
  }

  #letGo(bytes: number): void {
    if (bytes > 0) this.#options.onWaiting?.(-bytes);
  }

  #tellAwaited(): void {
    const isStored = this.#stored >= (this.#awaited?.order ?? 0);
    if (!isStored && !this.#stopped.signal.aborted) return;
    this.#awaited?.resolve(isStored);
    this.#awaited = undefined;
  }

  #nextBatch(): SessionFrame[] {
    let bytes = 0;
    const past = this.#queue.findIndex((frame, index) => {
      bytes += frame.kind === "bytes" ? frame.bytes.length : 0;
      return index > 0 && (bytes > BATCH_BYTES || index >= BATCH_FRAMES);
    });
    if (past < 0) {
      const all = this.#queue;
      this.#queue = [];
      return all;
    }
    return this.#queue.splice(0, past);
  }

  /** False: stopped before it was stored. */
  async #store(batch: readonly SessionFrame[]): Promise<boolean> {
    for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MOST_MS)) {
      try {
        await this.#options.intake(batch);
        return true;
      } catch (error) {
        this.#options.onTrouble(error);
      }
      await setTimeout(waitMs, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
      if (this.#stopped.signal.aborted) return false;
    }
  }
}

function total(sizes: readonly number[]): number {
  return sizes.reduce((sum, it) => sum + it, 0);
}
