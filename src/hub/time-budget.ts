/** How long each key may keep this thread busy: what is spent comes back slowly. */
export type TimeBudget = {
  /** May be spent at once. */
  readonly burstMs: number;
  /** Of each millisecond that goes by, so much comes back. */
  readonly share: number;
};

/** `worked`: of this thread's own time, for a machine that stood still meanwhile is nobody's doing. */
export type BudgetClock = { readonly now: () => number; readonly worked: () => number };

type Spent = { ms: number; at: number };

export class TimeBudgets {
  readonly #budget: TimeBudget;
  readonly #clock: BudgetClock;
  readonly #spent = new Map<string, Spent>();

  constructor(budget: TimeBudget, clock: BudgetClock = THREAD_CLOCK) {
    this.#budget = budget;
    this.#clock = clock;
  }

  /** Milliseconds until the key may spend again; 0: now. */
  waitFor(key: string): number {
    const over = this.#of(key).ms - this.#budget.burstMs;
    return over <= 0 ? 0 : Math.ceil(over / this.#budget.share);
  }

  /** Runs what takes time, and counts it. */
  spend<T>(key: string, act: () => T): T {
    const from = this.#clock.worked();
    try {
      return act();
    } finally {
      const spent = this.#of(key);
      spent.ms += this.#clock.worked() - from;
      this.#spent.set(key, spent);
      this.#forget();
    }
  }

  #of(key: string): Spent {
    const now = this.#clock.now();
    const { ms, at } = this.#spent.get(key) ?? { ms: 0, at: now };
    return { ms: Math.max(0, ms - (now - at) * this.#budget.share), at: now };
  }

  /** Keys whose time is all back. */
  #forget(): void {
    if (this.#spent.size < KEYS_MAX) return;
    for (const key of this.#spent.keys()) if (this.#of(key).ms === 0) this.#spent.delete(key);
  }
}

const KEYS_MAX = 1000;

const THREAD_CLOCK: BudgetClock = {
  now: () => performance.now(),
  worked: () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  },
};
