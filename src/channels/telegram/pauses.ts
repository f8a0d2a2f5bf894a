import { setTimeout } from "node:timers/promises";

/** Doubles up to a bound; the jitter keeps many from coming back as one. */
export class Pauses {
  readonly #minMs: number;
  readonly #maxMs: number;
  #attempt = 0;

  constructor(minMs: number, maxMs: number) {
    this.#minMs = minMs;
    this.#maxMs = maxMs;
  }

  nextMs(): number {
    const ceilingMs = Math.min(this.#maxMs, this.#minMs * 2 ** this.#attempt);
    this.#attempt += 1;
    return ceilingMs * (0.5 + Math.random() / 2);
  }

  reset(): void {
    this.#attempt = 0;
  }
}

/** Resolves after the time, or as soon as the signal is aborted. */
export async function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  await setTimeout(durationMs, undefined, { signal }).catch(() => undefined);
}
