/**
 * What lives though it was to end: mostly programs that run as somebody else, whom no signal of an ordinary user's host
 * reaches. Rule STP-16 in docs/spec/stopping.md.
 */
import { setTimeout as delay } from "node:timers/promises";
import { programOf, type ProcessStat, statsOf } from "./probe/processes.ts";
import type { ProcessTree } from "./process-tree.ts";
import type { PtyExit } from "./pty.ts";
import type { ShellProcess } from "./shell-process.ts";
import type { StoppedProcess, SurvivorReason } from "./stop-order.ts";

export type Survivor = StoppedProcess & { readonly reason: SurvivorReason };

export function survivorsOf(tree: ProcessTree): readonly Survivor[] {
  return statsOf(tree.alive).map((stat) => ({ pid: stat.pid, program: programOf(stat), reason: reasonOf(stat) }));
}

export function reasonOf({ pid, state }: ProcessStat): SurvivorReason {
  if (!isOurs(pid)) return "another_user";
  return state === "D" ? "uninterruptible" : "still_there";
}

/**
 * Of a shell that was killed, with its tree: resolves when its end is told. What became another user's program heeds no
 * signal of ours, but its terminal's end is the kernel's word; what lives even then is left, so that a session can end.
 */
export async function endOf(shell: ShellProcess, tree: ProcessTree): Promise<PtyExit> {
  const lives = async (withinMs: number): Promise<boolean> => {
    await Promise.race([shell.exited, delay(withinMs, undefined, { ref: false })]);
    return !shell.gone && tree.alive.includes(shell.pid);
  };
  shell.wakeKeepers();
  if (await lives(DYING_MS)) {
    shell.hangUp();
    if (await lives(HUNG_UP_MS)) shell.leave();
  }
  return shell.exited;
}

function isOurs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "EPERM";
  }
}

const DYING_MS = 500;
/** Long enough for sudo to pass it on, and for what is killed on a busy machine to be gone. */
const HUNG_UP_MS = 2_000;
