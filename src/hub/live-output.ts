/** The output of one session that still runs, as far as it is in memory: how far it reaches and who waits for more. */
import type { Actor } from "../domain/actor.ts";

export type Reach = { readonly cursor: number; readonly order: number };

/** Newest bytes kept for readers that follow closely: they need no disk. */
const RECENT_BYTES = 512 * 1024;
/** Nobody has asked for them for so long: a thousand idle sessions must not hold a thousand times as much. */
const RECENT_IDLE_MS = 5_000;

export class LiveOutput {
  readonly source: Actor;
  size: number;
  settled: Reach;
  announced: number;
  lastEventAt = 0;
  timer: NodeJS.Timeout | undefined;
  /** Events, one after the other: two at once would announce the same bytes twice. */
  announcing: Promise<unknown> = Promise.resolve();
  /** Nothing more comes. */
  over = false;
  /** And whoever follows has been told. */
  released = false;
  readonly #waiting = { stored: new Set<() => void>(), settled: new Set<() => void>() };
  #recent: Uint8Array[] = [];
  #recentBytes = 0;
  #askedAt = 0;

  constructor(start: { source: Actor; size: number; settled: Reach; announced: number }) {
    this.source = start.source;
    this.size = start.size;
    this.settled = start.settled;
    this.announced = start.announced;
  }

  grow(bytes: Uint8Array): void {
    this.size += bytes.length;
    this.#keep(bytes);
    wake(this.#waiting.stored);
  }

  settle(order: number): void {
    this.settled = { cursor: this.size, order: Math.max(order, this.settled.order) };
    wake(this.#waiting.settled);
  }

  end(): void {
    this.over = true;
    this.released = true;
    wake(this.#waiting.stored);
    wake(this.#waiting.settled);
  }

  /** From memory, if it is there. */
  recent(cursor: number, maxBytes: number): Uint8Array | undefined {
    this.#askedAt = performance.now();
    let begin = this.size - this.#recentBytes;
    if (cursor < begin || cursor >= this.size) return cursor >= this.size ? new Uint8Array(0) : undefined;
    for (const chunk of this.#recent) {
      if (cursor < begin + chunk.length) return chunk.subarray(cursor - begin, cursor - begin + maxBytes);
      begin += chunk.length;
    }
    return undefined;
  }

  woken(by: "stored" | "settled", signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting[by];
      const done = (): void => {
        waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      waiting.add(done);
      signal.addEventListener("abort", done);
      if (signal.aborted || this.released) done();
    });
  }

  #keep(bytes: Uint8Array): void {
    if (performance.now() - this.#askedAt > RECENT_IDLE_MS) {
      this.#recent = [];
      this.#recentBytes = 0;
      return;
    }
    this.#recent.push(bytes);
    this.#recentBytes += bytes.length;
    while (this.#recentBytes > RECENT_BYTES) this.#recentBytes -= this.#recent.shift()?.length ?? 0;
  }
}

function wake(waiting: Set<() => void>): void {
  for (const done of waiting) done();
}
