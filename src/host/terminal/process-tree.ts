/**
 * Everything that a shell started, as far as it was seen: kept by number and beginning, so that what outlives its
 * parent is still ours to end, and a number that was given to somebody else is not.
 */
import { setTimeout as delay } from "node:timers/promises";
import { descendants, statsOf } from "./probe/processes.ts";
import { sendSignal } from "./send-signal.ts";

export class ProcessTree {
  /** By number: when it began. Its session would not do: a shell has another one a moment after it was forked. */
  readonly #began = new Map<number, number>();

  constructor(roots: readonly number[]) {
    this.#add(roots);
  }

  /** Processes that live; zombies are only their parents' business. */
  get alive(): readonly number[] {
    return statsOf([...this.#began.keys()])
      .filter((it) => it.startedAt === this.#began.get(it.pid) && it.state !== "Z")
      .map((it) => it.pid);
  }

  /** To all of them, those that they have started meanwhile too. */
  signal(signal: NodeJS.Signals): void {
    const living = this.alive;
    this.#add(living.flatMap((pid) => descendants(pid)));
    for (const pid of this.alive.toReversed()) sendSignal(pid, signal);
  }

  /** True when none lives. Nobody tells us of processes that aren't our children: they are looked at. */
  async goneWithin(timeoutMs: number): Promise<boolean> {
    const end = performance.now() + timeoutMs;
    while (this.alive.length > 0) {
      if (performance.now() >= end) return false;
      // oxlint-disable-next-line no-await-in-loop -- a look each time
      await delay(LOOK_MS);
    }
    return true;
  }

  #add(pids: readonly number[]): void {
    for (const { pid, startedAt } of statsOf(pids)) if (!this.#began.has(pid)) this.#began.set(pid, startedAt);
  }
}

const LOOK_MS = 10;
