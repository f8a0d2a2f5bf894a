/** One after the other for each key; keys don't wait for each other. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  run<T>(key: string, act: () => Promise<T>): Promise<T> {
    const turn = (this.#last.get(key) ?? Promise.resolve()).then(act);
    const settled = turn
      .catch(() => undefined)
      .finally(() => {
        if (this.#last.get(key) === settled) this.#last.delete(key);
      });
    this.#last.set(key, settled);
    return turn;
  }
}
