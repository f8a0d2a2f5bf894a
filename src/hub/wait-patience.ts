/**
 * How long a wait goes on. When its time is over, what is recorded already is still looked at for a moment: a wait of
 * no time at all asks whether something has happened, and the answer must not depend on how fast the store is.
 */
import { startTimer } from "../lib/long-timer.ts";

/** The tape has nothing more for now if it gave nothing for so long. */
const NOTHING_MS = 10;
const OVERTIME_MS = 250;

export class Patience implements Disposable {
  readonly #stop = new AbortController();
  readonly #caller: AbortSignal;
  readonly #abort = (): void => this.#stop.abort();
  #timer: Disposable;
  #hungrySince: number | undefined = performance.now();
  #over = false;

  constructor(delayMs: number, caller: AbortSignal) {
    this.#caller = caller;
    caller.addEventListener("abort", this.#abort);
    if (caller.aborted) this.#stop.abort();
    this.#timer = startTimer(delayMs, () => this.#due(performance.now() + OVERTIME_MS));
  }

  /** Aborted when the time is over, or by the caller. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Whether it was time that ended the wait. */
  get over(): boolean {
    return this.#over;
  }

  /** The tape gave something. */
  fed(): void {
    this.#hungrySince = undefined;
  }

  /** The tape is asked for more. */
  hungry(): void {
    this.#hungrySince = performance.now();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
    this.#caller.removeEventListener("abort", this.#abort);
  }

  #due(limit: number): void {
    const now = performance.now();
    if (now >= limit || (this.#hungrySince !== undefined && now - this.#hungrySince >= NOTHING_MS)) {
      this.#over = true;
      this.#stop.abort();
    } else {
      this.#timer = startTimer(NOTHING_MS, () => this.#due(limit));
    }
  }
}
