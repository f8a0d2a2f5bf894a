/** The process tree as `/proc` shows it at one moment; what has ended meanwhile is left out. */
import { readlinkSync, statSync } from "node:fs";
import { basename } from "node:path";
import { isTrustedName } from "../../../domain/prompts/claims.ts";
import { numbersIn, readProcFile } from "./proc-file.ts";

export type ProcessStat = {
  readonly pid: number;
  /** The name of its program, at most 15 bytes. */
  readonly program: string;
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Device of its controlling terminal, 0 without one. */
  readonly tty: number;
  /** Foreground group of that terminal. */
  readonly foreground: number;
  readonly threads: number;
  /** By `bootTimeMs`, up to 10 ms too early. */
  readonly startedAt: number;
};

/** Children, their children and so on; parents before children. */
export function descendants(pid: number): number[] {
  const childrenOf = childrenFinder();
  const found = [...childrenOf(pid)];
  for (const it of found) found.push(...childrenOf(it));
  return found;
}

export function readStat(pid: number): ProcessStat | undefined {
  const line = readProcFile(`/proc/${pid}/stat`);
  if (line === undefined) return undefined;
  // The name stands in brackets and may itself hold brackets and spaces.
  const end = line.lastIndexOf(")");
  const [state, ...fields] = line.slice(end + 2).split(" ", STARTED + 2);
  const numbers = fields.map(Number);
  const [parent, group, session, tty, foreground] = numbers;
  if (state === undefined || numbers[STARTED] === undefined) return undefined;
  return {
    pid,
    program: Buffer.from(line.slice(line.indexOf("(") + 1, end), "latin1").toString(),
    state,
    parent: parent!,
    group: group!,
    session: session!,
    tty: tty!,
    foreground: foreground!,
    threads: numbers[THREADS]!,
    startedAt: numbers[STARTED] * TICK_MS,
  };
}

/** It has ended, all its threads too; its parent has still to ask for it. */
export function isDead({ state, threads }: ProcessStat): boolean {
  return state === "X" || (state === "Z" && threads <= 1);
}

/** Places behind the state. */
const THREADS = 16;
const STARTED = 18;
/** USER_HZ is 100 wherever Linux shows it. */
const TICK_MS = 10;

/** Members of a process group: looked for below `root`, and everywhere when none is there. */
export function groupMembers(group: number, root: number): ProcessStat[] {
  const near = statsOf([root, ...descendants(root)]).filter((it) => it.group === group);
  return near.length > 0 ? near : statsOf(allProcesses()).filter((it) => it.group === group);
}

export function statsOf(pids: readonly number[]): ProcessStat[] {
  return pids.flatMap((pid) => readStat(pid) ?? []);
}

export function allProcesses(): number[] {
  return numbersIn("/proc");
}

/** The name people know it by: Node names its first thread `MainThread`, and that is all the kernel keeps. */
export function programOf({ pid, program }: ProcessStat): string {
  const name = program === "MainThread" ? commandOf(pid) || program : program;
  return isTrustedName(name) ? vouchedName(name, pid) : name;
}

function commandOf(pid: number): string {
  const command = readProcFile(`/proc/${pid}/cmdline`)?.split("\0", 1)[0] ?? "";
  return basename(Buffer.from(command, "latin1").toString());
}

/** A program names itself, and a script or a copy can be called `sudo`: what runs tells. What can't be seen is another user's, as the real one. */
function vouchedName(name: string, pid: number): string {
  const path = executablePath(pid);
  if (path === undefined || (basename(path).startsWith(name) && isOfSystem(path, pid))) return name;
  return `${name} (${path})`;
}

function isOfSystem(path: string, pid: number): boolean {
  return SYSTEM_PLACES.test(path) && statSync(`/proc/${pid}/exe`, { throwIfNoEntry: false })?.uid === 0;
}

const SYSTEM_PLACES = /^\/(?:usr|bin|sbin|lib|lib64|opt|nix\/store|gnu\/store|snap|run\/wrappers)\//;

function executablePath(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, "");
  } catch {
    return undefined;
  }
}

/** The name of the file that it runs, or what the kernel calls it where that can't be seen. */
export function executableOf(pid: number): string | undefined {
  const path = executablePath(pid);
  return path === undefined ? readStat(pid)?.program : basename(path);
}

/** How often a thread has gone to wait: grows with each new wait, stands while one lasts. */
export function voluntarySwitches(pid: number, thread = pid): number {
  const status = readProcFile(`/proc/${pid}/task/${thread}/status`);
  return Number(/^voluntary_ctxt_switches:\s*(\d+)/m.exec(status ?? "")?.[1] ?? 0);
}

export function ignoresSignal(pid: number, signal: number): boolean {
  const mask = /^SigIgn:\s*([0-9a-f]+)/m.exec(readProcFile(`/proc/${pid}/status`) ?? "")?.[1] ?? "0";
  return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}

/** 0: nobody. */
export function tracerOf(pid: number): number {
  return Number(/^TracerPid:\s*(\d+)/m.exec(readProcFile(`/proc/${pid}/status`) ?? "")?.[1] ?? 0);
}

/** For one moment: it may have read all there is already. */
export function childrenFinder(): (pid: number) => number[] {
  return hasChildrenFiles() ? childrenByFile : childrenByScan();
}

let childrenFiles: boolean | undefined;

/** They need CONFIG_PROC_CHILDREN. */
function hasChildrenFiles(): boolean {
  childrenFiles ??= readProcFile(`/proc/self/task/${process.pid}/children`) !== undefined;
  return childrenFiles;
}

/** Each thread has children of its own. */
function childrenByFile(pid: number): number[] {
  return numbersIn(`/proc/${pid}/task`).flatMap((thread) => {
    const text = readProcFile(`/proc/${pid}/task/${thread}/children`)?.trim() ?? "";
    return text === "" ? [] : text.split(" ").map(Number);
  });
}

export function childrenByScan(): (pid: number) => number[] {
  const children = new Map<number, number[]>();
  for (const { pid, parent } of statsOf(allProcesses())) {
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [pid]);
    else siblings.push(pid);
  }
  return (pid) => children.get(pid) ?? [];
}
