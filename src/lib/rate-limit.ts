/** At most so many in a minute for each key. */
const WINDOW_MS = 60_000;

export class RateLimit {
  readonly #perMinute: number;
  readonly #now: () => number;
  readonly #recent = new Map<string, number[]>();

  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /** Counts one, unless the minute is full. */
  admits(key: string): boolean {
    const from = this.#now() - WINDOW_MS;
    const recent = (this.#recent.get(key) ?? []).filter((at) => at > from);
    this.#recent.set(key, recent);
    if (recent.length >= this.#perMinute) return false;
    recent.push(this.#now());
    return true;
  }
}
