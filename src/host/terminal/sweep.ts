/**
 * Kills chosen children of a shell with all that they have started, however fast they start more. Each is stopped before
 * its children are read: from then on it can neither fork nor end, so nothing leaves the part of the tree that was
 * seen, and a walk that finds nothing new is the last. The shell itself has to be stopped by the caller.
 * Rules STP-4..STP-9 in docs/spec/stopping.md.
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
import type { StoppedProcess, SurvivorReason } from "./stop-order.ts";

export type SweepOptions = {
  readonly shell: number;
  /** Which of the shell's children are to go, with all below them. */
  readonly chooses: (child: ProcessStat) => boolean;
  /** Orphans are the shell's; else they are looked for among all processes of its session. */
  readonly complete: boolean;
};

export type Survivor = StoppedProcess & { readonly reason: SurvivorReason };

type Found = StoppedProcess & { readonly startedAt: number; killed: boolean; refused: boolean };

export class Sweep {
  readonly #options: SweepOptions;
  readonly #found = new Map<number, Found>();
  /** Those that had ended when they were first seen. What they left has another parent since then. */
  readonly #dead = new Set<number>();

  /** Children of the shell that are not to go. */
  #spared: Set<number> | undefined;

  constructor(options: SweepOptions) {
    this.#options = options;
  }

  /** Walks and kills for about `budgetMs`; true when nothing is left to be found. */
  strike(budgetMs: number): boolean {
    const end = performance.now() + budgetMs;
    let news = true;
    while (news && performance.now() < end) news = this.#walk(end);
    for (const it of this.#found.values()) if (!it.killed) this.#kill(it);
    return !news;
  }

  /** Children of the shell that are neither spared nor known. */
  newcomers(): readonly number[] {
    return this.#roots(childrenFinder()).filter((pid) => {
      const stat = this.#isKnown(pid) ? undefined : readStat(pid);
      return stat !== undefined && !isDead(stat);
    });
  }

  get living(): readonly Survivor[] {
    return [...this.#found.values()].flatMap((it) => {
      const stat = readStat(it.pid);
      if (stat?.startedAt !== it.startedAt || isDead(stat)) return [];
      const { pid, program, refused } = it;
      return [
        { pid, program, reason: refused ? "another_user" : stat.state === "D" ? "uninterruptible" : "still_there" },
      ];
    });
  }

  get found(): readonly StoppedProcess[] {
    return [...this.#found.values()].map(({ pid, program }) => ({ pid, program }));
  }

  /** True when something was new: what it started may be where we had already looked. */
  #walk(end: number): boolean {
    const childrenOf = childrenFinder();
    const walked = new Set<number>();
    const queue = this.#roots(childrenOf);
    let news = false;
    for (const pid of queue) {
      if (walked.has(pid)) continue;
      if (performance.now() > end) return true;
      walked.add(pid);
      news = this.#stop(pid) || news;
      // What is being killed forks no more, and its children come to the shell.
      if (this.#found.get(pid)?.killed === false) queue.push(...childrenOf(pid));
    }
    return news;
  }

  /** Whatever came to the shell after the first look was started since, or was below something that is gone. */
  #roots(childrenOf: (pid: number) => readonly number[]): number[] {
    const { shell, chooses, complete } = this.#options;
    const children = complete ? childrenOf(shell) : [...childrenOf(shell), ...straysOf(shell)];
    this.#spared ??= new Set(statsOf(children).flatMap((it) => (chooses(it) ? [] : [it.pid])));
    return children.filter((pid) => this.#spared?.has(pid) === false);
  }

  /** Answers whether it was unknown. */
  #stop(pid: number): boolean {
    if (this.#isKnown(pid)) return false;
    const stat = readStat(pid);
    if (stat === undefined) return true;
    if (isDead(stat)) {
      this.#dead.add(pid);
      return true;
    }
    const found: Found = { pid, program: programOf(stat), startedAt: stat.startedAt, killed: false, refused: false };
    this.#found.set(pid, found);
    this.#send(found, "SIGSTOP");
    return true;
  }

  #isKnown(pid: number): boolean {
    return this.#found.has(pid) || this.#dead.has(pid);
  }

  #kill(found: Found): void {
    found.killed = true;
    this.#send(found, "SIGKILL");
  }

  #send(found: Found, signal: NodeJS.Signals): void {
    try {
      process.kill(found.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EPERM") found.refused = true;
    }
  }
}

/** Of the shell's session, but with a parent elsewhere. */
function straysOf(shell: number): number[] {
  const members = statsOf(allProcesses()).filter((it) => it.session === shell);
  const inside = new Set(members.map((it) => it.pid));
  return members.filter((it) => it.pid !== shell && !inside.has(it.parent)).map((it) => it.pid);
}
