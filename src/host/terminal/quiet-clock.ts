/**
 * Tells silence. After output or input it fires one rung after the other while nothing happens, and is still after the
 * last one. One timer; `stir` costs an assignment. Rules PTY-9..PTY-11 in docs/spec/terminal.md.
 */
export class QuietClock {
  readonly #time: QuietTime;
  readonly #rungsMs: readonly number[];
  readonly #fire: (ms: number) => void;
  #stirredAt = 0;
  #next: number;
  #timer: Disposable | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #held = false;

  constructor(rungsMs: readonly number[], fire: (ms: number) => void, time: QuietTime = REAL_TIME) {
    this.#time = time;
    this.#rungsMs = rungsMs;
    this.#fire = fire;
    this.#next = rungsMs.length;
  }

  /** None while nobody reads the terminal. */
  get silentMs(): number {
    return this.#held ? 0 : this.#time.now() - this.#stirredAt;
  }

  /** Something happened: silence begins anew. */
  stir(): void {
    this.#stirredAt = this.#time.now();
    // A timer for a later rung would tell the first one as late as that.
    const isLate = this.#next > 0;
    this.#next = 0;
    if (this.#held) return;
    if (isLate) this.#disarm();
    if (this.#timer === undefined && this.#immediate === undefined) this.#arm();
  }

  /** While nobody reads the terminal, its silence says nothing about the program. */
  hold(): void {
    this.#held = true;
    this.#disarm();
  }

  release(): void {
    if (!this.#held) return;
    this.#held = false;
    if (this.#next < this.#rungsMs.length) this.stir();
  }

  close(): void {
    this.#next = this.#rungsMs.length;
    this.hold();
  }

  #arm(): void {
    const rung = this.#rungsMs[this.#next];
    if (rung === undefined) return;
    const delayMs = Math.max(0, this.#stirredAt + rung - this.#time.now());
    this.#timer = this.#time.after(Math.ceil(delayMs), () => this.#look());
  }

  /** After a busy moment of ours output may lie unread: the loop polls once before silence is believed. */
  #look(): void {
    this.#timer = undefined;
    this.#immediate = setImmediate(() => {
      this.#immediate = undefined;
      this.#strike();
      if (!this.#held) this.#arm();
    });
  }

  #strike(): void {
    const rung = this.#rungsMs[this.#next];
    if (rung === undefined || this.#time.now() - this.#stirredAt < rung) return;
    this.#next += 1;
    this.#fire(rung);
  }

  #disarm(): void {
    this.#timer?.[Symbol.dispose]();
    clearImmediate(this.#immediate);
    this.#timer = undefined;
    this.#immediate = undefined;
  }
}

/** What silence is measured by. */
export type QuietTime = {
  /** Only grows. */
  readonly now: () => number;
  readonly after: (ms: number, then: () => void) => Disposable;
};

const REAL_TIME: QuietTime = {
  now: () => performance.now(),
  after: (ms, then) => {
    const timer = setTimeout(then, ms).unref();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};

export const SETTLE_MS = 20;
export const TOLD_MS: ReadonlySet<number> = new Set([30, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000]);
/** 60 ms is told to nobody: a program that was still on its way to its question at 30 is found before 100. */
export const RUNGS_MS: readonly number[] = [SETTLE_MS, ...TOLD_MS, 60].toSorted((a, b) => a - b);
