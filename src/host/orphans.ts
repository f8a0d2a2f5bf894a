/**
 * What shells leave behind when they end. The host is the subreaper above them, so it becomes the host's child and not
 * init's: it is still known as a session's, and the agent's part of it is ended, for no stop could reach it any more.
 * Rules STP-19, STP-20 in docs/spec/stopping.md.
 */
import { execFile, type ExecFileOptions } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import koffi from "koffi";
import { childrenFinder, isDead, type ProcessStat, readStat, statsOf } from "./terminal/probe/processes.ts";
import { Sweep } from "./terminal/sweep.ts";

/** Started by the host itself, and waited for by whoever started it. */
const own = new Set<number>();
/** Left behind by nobody's agent, by number: when it began. */
const spared = new Map<number, number>();
/** Dead when last looked at. */
let dead: ReadonlySet<number> = new Set();
let looking: NodeJS.Timeout | undefined;

/** From now on this process gets what its shells leave behind; false where the kernel says no. */
export function adoptOrphans(): boolean {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) !== 0) return false;
  looking ??= setInterval(look, LOOK_MS).unref();
  return true;
}

/** Called in the turn in which it was started, else it is taken for an orphan; disposed when its end is told. */
export function startedByHost(pid: number): Disposable {
  own.add(pid);
  return { [Symbol.dispose]: () => void own.delete(pid) };
}

/** A program that the host runs for itself; its output. Rejects if it fails. */
export async function runForHost(
  file: string,
  args: readonly string[],
  options: ExecFileOptions = {},
): Promise<string> {
  const running = promisify(execFile)(file, [...args], { ...options, encoding: "utf8" });
  using _own = startedByHost(running.child.pid ?? 0);
  return (await running).stdout;
}

/** The first process of each family that an ended shell left. */
export function orphans(): readonly number[] {
  return found().map((it) => it.pid);
}

/** A shell has ended. Ends those of its orphans that are chosen, with all below them. */
export async function endOrphans(chooses: (orphan: ProcessStat) => boolean): Promise<void> {
  if (looking === undefined) return;
  const isChosen = (it: ProcessStat): boolean => isOrphan(it) && spared.get(it.pid) !== it.startedAt && chooses(it);
  for (const end = performance.now() + SWEEP_MS; performance.now() < end; await delay(0)) {
    // Each turn one of its own: a shell that the host starts between two turns is no newcomer.
    const isDone = new Sweep({ shell: process.pid, chooses: isChosen, complete: true }).strike(TURN_MS);
    if (isDone) break;
  }
  spare();
}

/** Nobody else asks for the ends of orphans. Of what the host has started, others do, within a turn of the loop. */
function look(): void {
  const before = dead;
  dead = new Set(statsOf(childrenFinder()(process.pid)).flatMap((it) => (isDead(it) ? [it.pid] : [])));
  for (const pid of dead) if (before.has(pid) && !own.has(pid)) waitpid(pid, [0], WNOHANG);
  spare();
}

/** Those of a shell whose end is not told yet have still to be judged. */
function spare(): void {
  if ([...own].some(hasEnded)) return;
  spared.clear();
  for (const { pid, startedAt } of found()) spared.set(pid, startedAt);
}

function found(): ProcessStat[] {
  return looking === undefined ? [] : statsOf(childrenFinder()(process.pid)).filter(isOrphan);
}

/** What the host runs for a moment is in its own session. */
function isOrphan(it: ProcessStat): boolean {
  hostSession ??= readStat(process.pid)?.session;
  return !own.has(it.pid) && it.session !== hostSession && !isDead(it);
}

function hasEnded(pid: number): boolean {
  const stat = readStat(pid);
  return stat?.parent !== process.pid || isDead(stat);
}

let hostSession: number | undefined;

const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;
const LOOK_MS = 1_000;
const SWEEP_MS = 3_000;
const TURN_MS = 100;

const libc = koffi.load(null);
const prctl = libc.func("int prctl(int option, ulong, ulong, ulong, ulong)") as (...args: number[]) => number;
const waitpid = libc.func("int waitpid(int pid, _Out_ int *status, int options)") as (
  pid: number,
  status: number[],
  options: number,
) => number;
