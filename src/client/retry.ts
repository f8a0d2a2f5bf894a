/** When to try again, and when trying again is useless. */
import { AppError } from "../protocol/errors.ts";
import { DEAD_AFTER_MS, HEARTBEAT_MS } from "../protocol/stream.ts";
import { HubUnreachable } from "./unreachable.ts";
import { Unreadable } from "./unreadable.ts";

export type Timing = {
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
  readonly heartbeatMs: number;
  /** Silence for this long is a lost connection: TCP alone would notice after many minutes. */
  readonly deadAfterMs: number;
};

export const TIMING: Timing = {
  retryMinMs: 250,
  retryMaxMs: 10_000,
  heartbeatMs: HEARTBEAT_MS,
  deadAfterMs: DEAD_AFTER_MS,
};

/** Doubles up to a bound; the jitter keeps a hundred clients of a restarted hub from coming back as one. */
export class Backoff {
  readonly #timing: Timing;
  #attempt = 0;

  constructor(timing: Timing) {
    this.#timing = timing;
  }

  nextMs(): number {
    const ceilingMs = Math.min(this.#timing.retryMaxMs, this.#timing.retryMinMs * 2 ** this.#attempt);
    this.#attempt += 1;
    return ceilingMs * (0.5 + Math.random() / 2);
  }

  reset(): void {
    this.#attempt = 0;
  }
}

/** Whether the same request may succeed later: the hub is away, overloaded or has a fault, but did not refuse. */
export function isTransient(error: unknown): boolean {
  if (error instanceof HubUnreachable) return true;
  if (!(error instanceof AppError) || error instanceof Unreadable) return false;
  return error.status >= 500 || error.status === 429;
}

/** Resolves after the time, or as soon as the signal is aborted. */
export function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, durationMs);
    signal.addEventListener("abort", done, { once: true });
  });
}
