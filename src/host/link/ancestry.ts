/** Where a process comes from. */
import { readlinkSync } from "node:fs";
import { readStat } from "../terminal/probe/processes.ts";

/**
 * Whether it is one of `roots`, was started below one, or belongs to the terminal session of one. Also true when that
 * can't be told: whoever has ended already, or hides in another namespace, may have been there.
 */
export function isBelow(pid: number, roots: ReadonlySet<number>): boolean {
  if (roots.size === 0) return false;
  let at = pid;
  for (let depth = 0; depth < DEEPEST; depth += 1) {
    const stat = readStat(at);
    if (stat === undefined || roots.has(at) || roots.has(stat.session)) return true;
    if (stat.parent === 0) return false;
    at = stat.parent;
  }
  return true;
}

/**
 * Whether it sees other processes than we do, as in a guard or a container; also true when that can't be told. A socket
 * whose path was carried there serves nobody. Other files alone say nothing: a service has its own `/tmp`.
 */
export function isElsewhere(pid: number): boolean {
  try {
    return namespace(pid) !== namespace("self");
  } catch {
    return true;
  }
}

function namespace(process: number | "self"): string {
  return readlinkSync(`/proc/${process}/ns/pid`);
}

const DEEPEST = 1_000;
