/**
 * Which sessions somebody attends who can type. A viewer that is gone is counted for a while longer: a network that
 * blinks must not let an agent loose (CTL-19).
 */
export class Attendance {
  readonly #graceMs: number;
  readonly #changed: (sessionId: string) => void;
  readonly #present = new Map<string, number>();
  readonly #lingering = new Map<string, NodeJS.Timeout>();

  constructor(graceMs: number, changed: (sessionId: string) => void) {
    this.#graceMs = graceMs;
    this.#changed = changed;
  }

  isAttended(sessionId: string): boolean {
    return (this.#present.get(sessionId) ?? 0) > 0 || this.#lingering.has(sessionId);
  }

  enter(sessionId: string): Disposable {
    this.#present.set(sessionId, (this.#present.get(sessionId) ?? 0) + 1);
    this.#changed(sessionId);
    let isHere = true;
    return {
      [Symbol.dispose]: () => {
        if (isHere) this.#leave(sessionId);
        isHere = false;
      },
    };
  }

  /** As if somebody had just left. */
  linger(sessionId: string): void {
    clearTimeout(this.#lingering.get(sessionId));
    const timer = setTimeout(() => {
      this.#lingering.delete(sessionId);
      this.#changed(sessionId);
    }, this.#graceMs);
    this.#lingering.set(sessionId, timer.unref());
  }

  forget(sessionId: string): void {
    clearTimeout(this.#lingering.get(sessionId));
    this.#lingering.delete(sessionId);
    this.#present.delete(sessionId);
  }

  stop(): void {
    for (const timer of this.#lingering.values()) clearTimeout(timer);
    this.#lingering.clear();
  }

  #leave(sessionId: string): void {
    const left = (this.#present.get(sessionId) ?? 1) - 1;
    if (left > 0) {
      this.#present.set(sessionId, left);
      return;
    }
    this.#present.delete(sessionId);
    this.linger(sessionId);
  }
}
