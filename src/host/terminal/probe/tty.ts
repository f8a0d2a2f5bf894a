/**
 * What Node can't ask a terminal: its modes, its foreground group, its unread input. Every call is synchronous, takes
 * microseconds and answers undefined or false when the descriptor is no terminal (any more). Linux only.
 */
import { closeSync, constants, fstatSync, openSync, statSync } from "node:fs";
import koffi from "koffi";
import type { TtyModes } from "../../../domain/waiting.ts";

export type { TtyModes } from "../../../domain/waiting.ts";

/** Modes, and whether a raw `read` gives up by itself (VMIN 0 with VTIME). */
export type TtyState = { readonly modes: TtyModes; readonly readTimed: boolean };

/** Of the slave, asked through the master. */
export function readTtyModes(fd: number): TtyModes | undefined {
  return readTtyState(fd)?.modes;
}

export function readTtyState(fd: number): TtyState | undefined {
  const attributes = new Uint8Array(TERMIOS_BYTES);
  if (tcgetattr(fd, attributes) !== 0) return undefined;
  const flags = new DataView(attributes.buffer).getUint32(LFLAG_AT, true);
  return {
    modes: { echo: (flags & ECHO) !== 0, canonical: (flags & ICANON) !== 0, signals: (flags & ISIG) !== 0 },
    readTimed: attributes[CC_AT + VMIN] === 0 && attributes[CC_AT + VTIME] !== 0,
  };
}

/** All that a terminal is set to; undefined when `fd` is none. */
export function readSettings(fd: number): Uint8Array | undefined {
  const attributes = new Uint8Array(TERMIOS_BYTES);
  return tcgetattr(fd, attributes) === 0 ? attributes : undefined;
}

/** Gives the slave of a master the line modes of `settings`: what programs change while they own the screen. */
export function restoreLineModes(fd: number, settings: Uint8Array): boolean {
  const now = readSettings(fd);
  if (now === undefined) return false;
  const [current, wanted] = [new DataView(now.buffer), new DataView(settings.buffer)];
  for (const [at, mask] of LINE_MODES) {
    current.setUint32(at, (current.getUint32(at, true) & ~mask) | (wanted.getUint32(at, true) & mask), true);
  }
  return tcsetattr(fd, TCSANOW, now) === 0;
}

/** Bytes that a master would give now. */
export function unreadOutput(fd: number): number {
  const answer = [0];
  return ioctl(fd, FIONREAD, answer) === 0 ? (answer[0] ?? 0) : 0;
}

/** `fd` is a master, or this process's own terminal. */
export function foregroundGroup(fd: number): number | undefined {
  const group = tcgetpgrp(fd);
  return group > 0 ? group : undefined;
}

/** The slave behind a master; undefined when `fd` is none. */
export function slaveFile(fd: number): { readonly dev: number; readonly rdev: number } | undefined {
  const answer = [0];
  return ioctl(fd, TIOCGPTN, answer) === 0 ? statSync(`/dev/pts/${answer[0]}`, { throwIfNoEntry: false }) : undefined;
}

/** As `st_rdev` and `/proc/PID/stat` write it. */
export function slaveDevice(number: number): number {
  return (SLAVE_MAJOR << 8) | (number & 0xff) | ((number & ~0xff) << 12);
}

/**
 * Drops what was typed and not yet read, what waits behind a full line discipline too. On the master it would drop
 * output instead.
 */
export function flushInput(slavePath: string): boolean {
  return withTerminal(slavePath, constants.O_RDWR, (fd) => tcflush(fd, TCIFLUSH) === 0) ?? false;
}

/** Bytes a reader would get now: whole lines in canonical mode. */
export function unreadInput(slavePath: string): number | undefined {
  return withTerminal(slavePath, constants.O_RDONLY, (fd) => {
    const answer = [0];
    return ioctl(fd, FIONREAD, answer) === 0 ? answer[0] : undefined;
  });
}

/**
 * Brings what a master has taken to a reader of its slave who has nothing to read. It waits in a queue of the kernel's,
 * which a busy machine works off late; a poll of the slave works it off first. It can block.
 */
export function deliverInput(fd: number): void {
  const answer = [0];
  if (ioctl(fd, TIOCGPTN, answer) !== 0) return;
  withTerminal(`/dev/pts/${answer[0]}`, constants.O_RDONLY, (slave) =>
    poll([{ fd: slave, events: POLLIN, revents: 0 }], 1, 0),
  );
}

/**
 * Opens a terminal for the length of `ask`: a slave kept open would keep its master from ever seeing the end. Never
 * becomes our controlling terminal, never blocks on what only has a terminal's name.
 */
export function withTerminal<T>(path: string, access: number, ask: (fd: number) => T): T | undefined {
  let fd: number;
  try {
    fd = openSync(path, access | constants.O_NOCTTY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    return isSlave(fstatSync(fd).rdev) ? ask(fd) : undefined;
  } finally {
    closeSync(fd);
  }
}

/** Programs that are started later don't inherit it. */
export function closeOnExec(fd: number): boolean {
  return fcntl(fd, F_SETFD, "int", FD_CLOEXEC) === 0;
}

/** The group of another process; undefined when it is gone. */
export function processGroup(pid: number): number | undefined {
  const group = getpgid(pid);
  return group > 0 ? group : undefined;
}

// asm-generic: the same on x86-64 and arm64.
const TERMIOS_BYTES = 64;
const LFLAG_AT = 12;
/**
 * ISTRIP INLCR IGNCR ICRNL; OPOST ONLCR OCRNL; ISIG ICANON ECHO ECHOE ECHOK ECHONL NOFLSH ECHOCTL ECHOKE IEXTEN. Not
 * flow control, nor the keys: those are set by people.
 */
const LINE_MODES = [
  [0, 0x1e0],
  [4, 0xd],
  [LFLAG_AT, 0x8afb],
] as const;
const CC_AT = 17;
const VTIME = 5;
const VMIN = 6;
const ISIG = 1;
const ICANON = 2;
const ECHO = 8;
const TCIFLUSH = 0;
const TCSANOW = 0;
const FIONREAD = 0x541b;
const F_SETFD = 2;
const FD_CLOEXEC = 1;
const TIOCGPTN = 0x80045430;
const POLLIN = 1;
const SLAVE_MAJOR = 136;
const SLAVE_MAJOR_LAST = 143;

const libc = koffi.load(null);
const tcgetattr = libc.func("int tcgetattr(int fd, _Out_ uint8_t *attributes)") as (
  fd: number,
  attributes: Uint8Array,
) => number;
const tcsetattr = libc.func("int tcsetattr(int fd, int when, const uint8_t *attributes)") as (
  fd: number,
  when: number,
  attributes: Uint8Array,
) => number;
const tcgetpgrp = libc.func("int tcgetpgrp(int fd)") as (fd: number) => number;
const getpgid = libc.func("int getpgid(int pid)") as (pid: number) => number;
const fcntl = libc.func("int fcntl(int fd, int command, ...)") as (
  fd: number,
  command: number,
  type: string,
  value: number,
) => number;
koffi.struct("pollfd", { fd: "int", events: "short", revents: "short" });
const poll = libc.func("int poll(_Inout_ pollfd *files, unsigned long count, int timeout)") as (
  files: readonly { readonly fd: number; readonly events: number; readonly revents: number }[],
  count: number,
  timeoutMs: number,
) => number;
const tcflush = libc.func("int tcflush(int fd, int queue)") as (fd: number, queue: number) => number;
const ioctl = libc.func("int ioctl(int fd, unsigned long request, _Out_ int *answer)") as (
  fd: number,
  request: number,
  answer: number[],
) => number;

function isSlave(device: number): boolean {
  const major = (device >> 8) & 0xfff;
  return major >= SLAVE_MAJOR && major <= SLAVE_MAJOR_LAST;
}
