/**
 * How long the other end of a link has said nothing, measured by looks at regular times. A look that comes late means
 * that this end stood still: what the other end said meanwhile is still unread, so that time doesn't count. Rule HST-20.
 */
export class Silence {
  readonly #everyMs: number;
  #lookedAt: number;
  #ms = 0;

  constructor(everyMs: number, now: number) {
    this.#everyMs = everyMs;
    this.#lookedAt = now;
  }

  /** Something came. */
  end(): void {
    this.#ms = 0;
  }

  /** One look; the answer is the silence so far. */
  look(now: number): number {
    this.#ms += Math.min(now - this.#lookedAt, this.#everyMs);
    this.#lookedAt = now;
    return this.#ms;
  }
}
