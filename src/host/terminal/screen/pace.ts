/** How fast a screen draws what it gets, by the processor time of its thread: three bytes can fill a screen. Rule SCR-45. */

/** One of the two is enough to tell. Less may be a thread that has only begun, or one that cleaned up. */
const TELLING_BYTES = 16 * 1024;
const TELLING_MS = 50;

export class Pace {
  #bytes = 0;
  #cpuMs = 0;

  /** Undefined: not known yet. */
  get bytesPerMs(): number | undefined {
    if (this.#bytes < TELLING_BYTES && this.#cpuMs < TELLING_MS) return undefined;
    return this.#bytes / Math.max(this.#cpuMs, 0.001);
  }

  drew(bytes: number, cpuMs: number): void {
    this.#bytes += bytes;
    this.#cpuMs += cpuMs;
    // What was drawn long ago counts less and less.
    if (this.#cpuMs < 2 * TELLING_MS) return;
    this.#bytes /= 2;
    this.#cpuMs /= 2;
  }
}
