import { readFileSync } from "node:fs";
import { isDead, statsOf } from "../../src/host/terminal/probe/processes.ts";

/** Without the dead: interrupted at the wrong moment, bash waits at its prompt and leaves some of them as zombies. */
export function livingChildrenOf(pid: number): string[] {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
  return statsOf(pids.map(Number)).flatMap((it) => (isDead(it) ? [] : [`${it.pid} ${it.program} ${it.state}`]));
}
