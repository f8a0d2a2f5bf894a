/** Renews a lease at half of its time while somebody needs it, and not otherwise. */
import { AppError } from "../protocol/errors.ts";
import type { Output } from "../protocol/operations.ts";
import type { SidestickClient } from "./client.ts";
import { pause } from "./retry.ts";

type Control = Output<"control.get">;

/** A renewal that got no answer is tried again after this part of the lease. */
const RETRY_PART = 1 / 8;

export class LeaseKeeper {
  readonly #client: SidestickClient;
  readonly #seconds: number | undefined;
  /** Of the last renewal, by a clock that only grows. */
  #renewed: { readonly epoch: number; readonly seconds: number; readonly at: number } | undefined;

  constructor(client: SidestickClient, seconds: number | undefined) {
    this.#client = client;
    this.#seconds = seconds;
  }

  /** Until the answer is called. */
  keep({ session_id, epoch, lease_seconds }: Control): () => void {
    const ending = new AbortController();
    if (lease_seconds !== null) void this.#renewing({ session_id, epoch, lease_seconds }, ending.signal);
    return () => ending.abort();
  }

  async #renewing(
    { session_id: sessionId, epoch, lease_seconds }: Pick<Control, "session_id" | "epoch"> & { lease_seconds: number },
    signal: AbortSignal,
  ): Promise<void> {
    let seconds = lease_seconds;
    for (;;) {
      await pause(this.#dueInMs(epoch), signal);
      if (signal.aborted) return;
      try {
        const state = await this.#client.control.renew({ sessionId, epoch, lease_seconds: this.#seconds }, { signal });
        if (state.lease_seconds === null) return;
        seconds = state.lease_seconds;
        this.#renewed = { epoch, seconds, at: performance.now() };
      } catch (error) {
        // `paused`: an interrupt is pending, which may still be withdrawn. Other refusals are for good.
        if (signal.aborted || (error instanceof AppError && error.code !== "paused")) return;
        await pause(seconds * RETRY_PART * 1000, signal);
      }
    }
  }

  /** How much of a lease that somebody else began is over is known to the gate alone: renewed at once. */
  #dueInMs(epoch: number): number {
    if (this.#renewed?.epoch !== epoch) return 0;
    return Math.max(0, this.#renewed.at + this.#renewed.seconds * 500 - performance.now());
  }
}
