/**
 * One terminal and who is at it: its foreground group, others that hold it open, the terminals inside it. A terminal
 * is named by file system and device, never by number: each private devpts has a `/dev/pts/0` of its own.
 */
import { constants, fstatSync } from "node:fs";
import type { Member, TtyWait } from "../../../domain/waiting.ts";
import { blockedCalls, type BlockedCall } from "./blocked.ts";
import { numbersIn, type OpenFile, openFile, readProcFile } from "./proc-file.ts";
import {
  allProcesses,
  descendants,
  groupMembers,
  programOf,
  type ProcessStat,
  readStat,
  statsOf,
} from "./processes.ts";
import { foregroundGroup, readTtyState, slaveDevice, slaveFile, type TtyState, withTerminal } from "./tty.ts";

export type TerminalInUse = {
  readonly dev: number;
  readonly rdev: number;
  /** The session whose controlling terminal it is. */
  readonly session: number;
  readonly group: number;
  /** Where its processes are looked for first. */
  readonly root: number;
  readonly state: TtyState;
};

/** Undefined when `fd` is no master, or no longer that of the shell's terminal: numbers of descriptors come again. */
export function terminalOf(fd: number, shellPid: number): TerminalInUse | undefined {
  const [state, slave, shell] = [readTtyState(fd), slaveFile(fd), readStat(shellPid)];
  if (state === undefined || slave === undefined || shell?.tty !== slave.rdev) return undefined;
  return {
    dev: slave.dev,
    rdev: slave.rdev,
    session: shell.session,
    group: foregroundGroup(fd) ?? -1,
    root: shellPid,
    state,
  };
}

/** The foreground group, each with what it is blocked on. */
export function membersOf(terminal: TerminalInUse, shellPid: number): Member[] {
  return groupMembers(terminal.group, terminal.root).map((it) => memberOf(it, terminal, shellPid));
}

/** Programs outside the foreground group that wait on the terminal: the server of tmux, a pinentry. Reads all of /proc. */
export function holdersOf(terminal: TerminalInUse): Member[] {
  const holding = allProcesses().filter((pid) => pid !== process.pid && holds(pid, terminal));
  return statsOf(holding)
    .filter((it) => it.group !== terminal.group)
    .map((it) => memberOf(it, terminal, 0))
    .filter((it) => it.wait !== undefined);
}

export type Inner =
  | { readonly visible: true; readonly terminal: TerminalInUse }
  /** Another user's: only whether its foreground sleeps can be told. */
  | { readonly visible: false; readonly asleep: boolean; readonly program: string; readonly pid: number };

/** The terminals whose master sides `relay` serves. */
export function terminalsInside(outer: TerminalInUse, relay: Member): Inner[] {
  const devices = new Set(relay.masters.map(slaveDevice));
  const below = statsOf(descendants(relay.pid)).filter((it) => it.tty > 0 && it.session !== outer.session);
  const served = relay.hidden ? nearest(below) : below.filter((it) => devices.has(it.tty));
  const sessions = new Map(served.map((it) => [it.session, it]));
  return [...sessions.keys()].map((session) =>
    innerOf(
      served.filter((it) => it.session === session),
      relay,
    ),
  );
}

/** For a process of the terminal's own session, whose `/dev/tty` it is. */
export function isTerminalFile(file: OpenFile | undefined, terminal: OpenFile): boolean {
  return file?.rdev === CONTROLLING_TTY || isSame(file, terminal);
}

const CONTROLLING_TTY = (5 << 8) | 0;
const MASTER = (5 << 8) | 2;

function memberOf(stat: ProcessStat, terminal: TerminalInUse, shellPid: number): Member {
  const { pid } = stat;
  // A stopped program still stands in its call and reads nothing.
  const calls = /[SDR]/.test(stat.state) ? blockedCalls(pid) : [];
  const inside = stat.session === terminal.session;
  const masters = new Set<number>();
  let wait: TtyWait | undefined;
  for (const call of calls ?? []) {
    const files = call.fds.map((fd) => ({ fd, file: openFile(pid, fd) }));
    for (const { fd, file } of files) if (file?.rdev === MASTER) masters.add(masterNumber(pid, fd));
    const tty = files.find(({ file }) => (inside ? isTerminalFile(file, terminal) : isSame(file, terminal)));
    if (tty !== undefined) wait ??= ttyWait(call, tty.fd, terminal);
  }
  return {
    pid,
    program: programOf(stat),
    shell: pid === shellPid,
    hidden: calls === undefined,
    asleep: stat.state === "S",
    wait,
    masters: [...masters],
  };
}

function ttyWait({ thread, call, fds, timed }: BlockedCall, fd: number, { state }: TerminalInUse): TtyWait {
  const readTimed = call === "read" && !state.modes.canonical && state.readTimed;
  return { thread, call, fd, sole: fds.length === 1, timed: timed || readTimed };
}

function masterNumber(pid: number, fd: number): number {
  return Number(/^tty-index:\s*(\d+)/m.exec(readProcFile(`/proc/${pid}/fdinfo/${fd}`) ?? "")?.[1] ?? -1);
}

function holds(pid: number, terminal: TerminalInUse): boolean {
  return numbersIn(`/proc/${pid}/fd`).some((fd) => isSame(openFile(pid, fd), terminal));
}

function isSame(file: OpenFile | undefined, terminal: OpenFile): boolean {
  return file?.rdev === terminal.rdev && file.dev === terminal.dev;
}

/** Without those that are inside a terminal inside: `script` run by a hidden `sudo`. */
function nearest(below: readonly ProcessStat[]): ProcessStat[] {
  const sessionOf = new Map(below.map((it) => [it.pid, it.session]));
  return below.filter((it) => {
    const leader = below.find((other) => other.pid === it.session);
    return leader === undefined || !sessionOf.has(leader.parent);
  });
}

function innerOf(processes: readonly ProcessStat[], relay: Member): Inner {
  const first = processes[0]!;
  const foreground = processes.filter((it) => it.group === first.foreground);
  for (const it of processes) {
    const opened = open(it);
    if (opened === undefined) continue;
    const { session, foreground: group } = it;
    return { visible: true, terminal: { ...opened, session, group, root: relay.pid } };
  }
  const shown = foreground[0] ?? first;
  return {
    visible: false,
    asleep: foreground.every((it) => it.state === "S"),
    program: programOf(shown),
    pid: shown.pid,
  };
}

/** Through a descriptor of its own, or its own view of `/dev/pts`: ours may hold another terminal of that number. */
function open({ pid, tty }: ProcessStat): Pick<TerminalInUse, "dev" | "rdev" | "state"> | undefined {
  const fds = numbersIn(`/proc/${pid}/fd`).filter((fd) => openFile(pid, fd)?.rdev === tty);
  const number = (tty & 0xff) | ((tty >> 12) & ~0xff);
  const paths = [...fds.slice(0, 1).map((fd) => `/proc/${pid}/fd/${fd}`), `/proc/${pid}/root/dev/pts/${number}`];
  for (const path of paths) {
    const opened = withTerminal(path, constants.O_RDONLY, (fd) => {
      const [{ dev, rdev }, state] = [fstatSync(fd), readTtyState(fd)];
      return rdev === tty && state !== undefined ? { dev, rdev, state } : undefined;
    });
    if (opened !== undefined) return opened;
  }
  return undefined;
}
