/**
 * Kills chosen children of a shell with all that they have started, however fast they start more. Each is stopped before
 * its children are read, so that it begins no fork and doesn't end: what was seen stays where it is until all are
 * killed. The shell itself has to be stopped by the caller. Rules STP-5..STP-9 in docs/spec/stopping.md.
 */
import {
  allProcesses,
  childrenFinder,
  isDead,
  programOf,
  type ProcessStat,
  readStat,
  statsOf,
} from "./probe/processes.ts";
import { sendSignal } from "./send-signal.ts";
import type { StoppedProcess } from "./stop-order.ts";
import { reasonOf, type Survivor } from "./survivors.ts";

export type SweepOptions = {
  readonly shell: number;
  /** What started the shell and takes in what slips away from it: whatever else is a child of these counts as the shell's. */
  readonly keepers?: readonly number[];
  /** Which of the shell's children are to go, with all below them. */
  readonly chooses: (child: ProcessStat) => boolean;
  /** Orphans are the shell's; else they are looked for among all processes of its session. */
  readonly complete: boolean;
};

type Killed = StoppedProcess & { readonly startedAt: number };

export class Sweep {
  readonly #options: SweepOptions;
  /** Stopped, so that it stays where it is. */
  readonly #stopped = new Set<number>();
  readonly #killed = new Map<number, Killed>();
  /** Has ended, and what it left has another parent. The number isn't given away: nobody who could ask for it runs. */
  readonly #dead = new Set<number>();
  /** Children of the shell that are not to go. */
  #spared: Set<number> | undefined;

  constructor(options: SweepOptions) {
    this.#options = options;
  }

  /**
   * Walks and kills for about `budgetMs`; true when nothing is left to be found. A fork that had begun when its process
   * was stopped still ends; only a kill prevents it. So the last walk is one after which nothing was to be killed.
   */
  strike(budgetMs: number): boolean {
    const end = performance.now() + budgetMs;
    while (performance.now() < end) {
      const news = this.#walk(end);
      if (news && performance.now() < end) continue;
      if (!news && this.#stopped.size === 0) return true;
      for (const pid of this.#stopped) this.#kill(pid);
    }
    return false;
  }

  /**
   * Children of the shell that are neither spared nor known. One that ended after its name was read may have left its
   * own children to the shell meanwhile: only a list of which nothing has ended since is complete.
   */
  newcomers(): readonly number[] {
    const ended = new Set<number>();
    for (;;) {
      const unknown = this.#roots(childrenFinder()).filter((pid) => !this.#killed.has(pid) && !ended.has(pid));
      const living = unknown.filter((pid) => !hasEnded(pid));
      if (living.length > 0 || unknown.length === 0) return living;
      for (const pid of unknown) ended.add(pid);
    }
  }

  get living(): readonly Survivor[] {
    return [...this.#killed.values()].flatMap(({ pid, program, startedAt }) => {
      const stat = readStat(pid);
      if (stat?.startedAt !== startedAt || isDead(stat)) return [];
      return [{ pid, program, reason: reasonOf(stat) }];
    });
  }

  get found(): readonly StoppedProcess[] {
    return [...this.#killed.values()].map(({ pid, program }) => ({ pid, program }));
  }

  /** True when something was new: what it started may be where we had already looked. */
  #walk(end: number): boolean {
    const childrenOf = childrenFinder();
    const walked = new Set<number>();
    const queue = this.#roots(childrenOf);
    let news = false;
    for (const pid of queue) {
      if (walked.has(pid) || this.#dead.has(pid)) continue;
      if (performance.now() > end) return true;
      walked.add(pid);
      news = this.#stop(pid) || news;
      queue.push(...childrenOf(pid));
      news = this.#hasDied(pid) || news;
    }
    return news;
  }

  /** Whatever came to the shell after the first look was started since, or was below something that is gone. */
  #roots(childrenOf: (pid: number) => readonly number[]): number[] {
    const { shell, keepers = [], chooses, complete } = this.#options;
    const own = new Set([shell, ...keepers]);
    const found = [...own].flatMap(childrenOf).filter((pid) => !own.has(pid));
    const children = complete ? found : [...found, ...straysOf(shell)];
    this.#spared ??= new Set(statsOf(children).flatMap((it) => (chooses(it) ? [] : [it.pid])));
    return children.filter((pid) => this.#spared?.has(pid) === false);
  }

  /** Answers whether it was unknown. Nothing is asked before: a fork loop is quicker than any question. */
  #stop(pid: number): boolean {
    if (this.#killed.has(pid) || this.#stopped.has(pid)) return false;
    this.#stopped.add(pid);
    sendSignal(pid, "SIGSTOP");
    return true;
  }

  /**
   * Answers whether it was killed and has ended since the last look: what is being killed still has its children until
   * then, and they may have come to the shell after the shell's were read.
   */
  #hasDied(pid: number): boolean {
    if (!this.#killed.has(pid) || !hasEnded(pid)) return false;
    this.#dead.add(pid);
    return true;
  }

  #kill(pid: number): void {
    this.#stopped.delete(pid);
    const stat = readStat(pid);
    if (stat === undefined || isDead(stat)) return void this.#dead.add(pid);
    this.#killed.set(pid, { pid, program: programOf(stat), startedAt: stat.startedAt });
    sendSignal(pid, "SIGKILL");
  }
}

function hasEnded(pid: number): boolean {
  const stat = readStat(pid);
  return stat === undefined || isDead(stat);
}

/** Of the shell's session, but with a parent elsewhere. */
function straysOf(shell: number): number[] {
  const members = statsOf(allProcesses()).filter((it) => it.session === shell);
  const inside = new Set(members.map((it) => it.pid));
  return members.filter((it) => it.pid !== shell && !inside.has(it.parent)).map((it) => it.pid);
}
