/**
 * Finds the processes that a run of the suite started, in /proc, so on Linux only. An editor or a shell that a person
 * had open before the run is not the run's, and is never ended. Rule HSE-30 in docs/spec/house.md.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export type LeftProcess = { readonly pid: number; readonly command: string };

export type Run = {
  /** Its directory. */
  readonly path: string;
  /** That of its runner. Undefined once the runner is dead: after that, nothing new in the directory is the run's. */
  readonly session: number | undefined;
  /** When its runner began, in ticks since the machine did. */
  readonly beganAt: number;
};

export type ProcessState = {
  readonly isDead: boolean;
  readonly session: number;
  /** In ticks since the machine began. */
  readonly beganAt: number;
};

type Named = { readonly own: readonly LeftProcess[]; readonly others: readonly LeftProcess[] };

/** One process may start another while it is being killed, and takes a moment to go. */
const MOST_KILLS = 100;
const BETWEEN_KILLS_MS = 20;

/** How the kernel names a session whose leader is outside of this container. Nothing tells whether that leader lives. */
const LEADER_OUTSIDE = 0;

/** The processes that name the directory of a run: those that the run started, and those of somebody else. */
export function processesOf(run: Run): Named {
  const named = processIds().flatMap((pid) => {
    const owner = pid === process.pid ? undefined : ownerOf(pid, run);
    return owner === undefined ? [] : [{ pid, owner, command: read(pid, "cmdline").replaceAll("\0", " ").trim() }];
  });
  const having = (wanted: Owner): LeftProcess[] =>
    named.filter(({ owner }) => owner === wanted).map(({ pid, command }) => ({ pid, command }));
  return { own: having("run"), others: having("somebody else") };
}

/** Processes of other accounts may stay: nobody but root can kill them. */
export function killProcessesOf(run: Run): void {
  for (let kills = 0; kills < MOST_KILLS; kills += 1) {
    const killed = processesOf(run).own.filter(({ pid }) => kill(pid));
    if (killed.length === 0) return;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BETWEEN_KILLS_MS);
  }
}

/** Undefined for one that is gone, and where there is no /proc. */
export function stateOf(pid: number): ProcessState | undefined {
  const stat = read(pid, "stat");
  // The name of the program stands in brackets, and may hold blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields.length < 20) return undefined;
  // The first of them is the third field of proc(5).
  return { isDead: /[ZX]/.test(fields[0] ?? ""), session: Number(fields[3]), beganAt: Number(fields[19]) };
}

/** A process whose state can't be read may still live: the kernel may hide it, or be short of files. */
export function isGone(pid: number): boolean {
  const state = stateOf(pid);
  if (state !== undefined) return state.isDead;
  try {
    return !process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

type Owner = "run" | "somebody else";

/** Undefined if it doesn't name the directory at all. */
function ownerOf(pid: number, run: Run): Owner | undefined {
  const state = stateOf(pid);
  if (state === undefined || state.isDead) return undefined;
  const environ = read(pid, "environ").split("\0");
  if (environ.some((it) => isPlaceIn(it, run.path))) return "run";
  const names = [read(pid, "cmdline"), directoryOf(pid), ...environ].some((it) => it.includes(run.path));
  if (!names) return undefined;
  return state.beganAt >= run.beganAt && isSessionOf(run, state.session) ? "run" : "somebody else";
}

/** What a run gives to everything that it starts. A shell writes other variables: it says where it is in `PWD`. */
function isPlaceIn(variable: string, path: string): boolean {
  return ["TMPDIR", "HOME"].some((name) => `${variable}/`.startsWith(`${name}=${path}/`));
}

/** A person who was there before the run has a session whose leader is older than the run. */
function isSessionOf(run: Run, session: number): boolean {
  if (session !== LEADER_OUTSIDE && isGone(session)) return true;
  return run.session !== undefined && (session === run.session || (stateOf(session)?.beganAt ?? 0) >= run.beganAt);
}

function processIds(): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** Empty for one that is gone, or another account's. */
function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}

function directoryOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
}

/** Whether there was such a process, and it may be killed. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}
