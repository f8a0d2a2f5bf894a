/**
 * STOP_NOW in a session for one command: an agent's command is killed with all that it started, and its session is over;
 * there is no shell to bring back to a prompt. A person's own runs on. Rule RMC-10 in docs/spec/commands.md.
 */
import { setTimeout as delay } from "node:timers/promises";
import { readStat } from "../probe/processes.ts";
import { reserve } from "../reserve.ts";
import type { StopOrder, StopReceipt } from "../stop-order.ts";
import { endOf, type Survivor, survivorsOf } from "../survivors.ts";
import { Sweep } from "../sweep.ts";
import type { Terminal } from "../terminal.ts";

/** Its receipt is the last that is told of the session, but for its end. */
export async function stopCommand(
  terminal: Terminal,
  order: StopOrder,
  tell: (receipt: StopReceipt) => void,
): Promise<void> {
  const { shell } = terminal;
  const { tracking } = shell;
  const told = {
    dropped_inputs: order.droppedInputs,
    dropped_bytes: order.droppedBytes + shell.cancelInput().bytes,
    respawned: false,
    kill_scope: order.scope,
    containment: tracking,
  };
  const isToGo = order.scope === "all" || order.drivesForeground || terminal.blocks.run?.by?.kind === "agent";
  if (!isToGo || terminal.over) return tell({ ...told, killed: [], killed_count: 0, survivors: [] });
  const stopped = killAll(terminal).then((killed) => tell({ ...told, ...killed }));
  terminal.endsAfter("stopped", stopped);
  return stopped;
}

type Killed = Pick<StopReceipt, "killed" | "killed_count" | "survivors">;

async function killAll({ shell, blocks }: Terminal): Promise<Killed> {
  const { pid, keepers, tracking, tree } = shell;
  const sweep = new Sweep({ shell: pid, keepers, chooses: () => true, complete: tracking !== "best_effort" });
  const itself = { pid: shell.pid, program: readStat(shell.pid)?.program ?? "" };
  shell.signal("SIGSTOP");
  shell.flushInput();
  blocks.cancel();
  await sweepAll(sweep);
  shell.signal("SIGKILL");
  await endOf(shell, tree);
  const survivors = await livingOf(() => [...survivorsOf(tree), ...sweep.living]);
  const surviving = new Set(survivors.map(({ pid }) => pid));
  const killed = [itself, ...sweep.found].filter(({ pid }) => !surviving.has(pid));
  return { killed: killed.slice(0, LISTED), killed_count: killed.length, survivors: survivors.slice(0, LISTED) };
}

/** After a moment to die in, also for those whom the end of their terminal was told by the kernel. */
async function livingOf(look: () => readonly Survivor[]): Promise<readonly Survivor[]> {
  const living = () => [...new Map(reserve.during(look).map((it) => [it.pid, it])).values()];
  for (const end = performance.now() + DYING_MS; performance.now() < end; await delay(LOOK_MS)) {
    if (living().length === 0) return [];
  }
  return living();
}

async function sweepAll(sweep: Sweep): Promise<void> {
  for (const end = performance.now() + SWEEP_MS; performance.now() < end; await delay(0)) {
    if (reserve.during(() => sweep.strike(TURN_MS))) return;
  }
}

const TURN_MS = 100;
const SWEEP_MS = 3_000;
const DYING_MS = 1_000;
const LOOK_MS = 10;
const LISTED = 100;
