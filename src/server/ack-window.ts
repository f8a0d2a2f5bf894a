/** How far a viewer may be ahead of its own acknowledgements. Bounds what is on the way to it (STR-7). */
const WINDOW_BYTES = 1024 * 1024;

export class AckWindow {
  /** Cursor just after the last byte that was sent. */
  sent: number;
  #acknowledged: number;
  #opened: (() => void) | undefined;

  constructor(from: number) {
    this.sent = from;
    this.#acknowledged = from;
  }

  get full(): boolean {
    return this.sent - this.#acknowledged >= WINDOW_BYTES;
  }

  /** Acknowledging twice, backwards or what was never sent changes nothing. */
  acknowledge(cursor: number): void {
    if (cursor <= this.#acknowledged || cursor > this.sent) return;
    this.#acknowledged = cursor;
    if (!this.full) this.#opened?.();
  }

  opens(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (!this.full || signal.aborted) return resolve();
      this.#opened = () => resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
      return undefined;
    });
  }
}
