/**
 * What a thread is blocked on: the system call it sleeps in and the descriptors that would wake it, read from
 * `/proc/PID/task/TID/syscall`, the program's memory (poll and select sets) and `fdinfo` (epoll sets).
 */
import { numbersIn, readMemory, readProcFile } from "./proc-file.ts";

export type BlockedCall = {
  readonly thread: number;
  readonly call: "read" | "poll" | "select" | "epoll";
  readonly fds: readonly number[];
  readonly timed: boolean;
};

/** The calls of all threads that wait for descriptors; undefined when they can't be seen. */
export function blockedCalls(pid: number): BlockedCall[] | undefined {
  const threads = numbersIn(`/proc/${pid}/task`).slice(0, MOST_THREADS);
  const calls = threads.map((thread) => blockedCall(pid, thread));
  return calls.every((it) => it === "hidden") ? undefined : calls.filter((it) => typeof it === "object");
}

/** The same for the first thread alone: quick enough for the main loop. */
export function blockedCallOfMain(pid: number): BlockedCall | undefined {
  const call = blockedCall(pid, pid);
  return typeof call === "object" ? call : undefined;
}

type Call = "read" | "poll" | "ppoll" | "select" | "pselect6" | "epoll_wait" | "epoll_pwait2" | "restart";

/** By architecture; arm64 has no poll, select and epoll_wait. */
const CALLS: Readonly<Record<string, Readonly<Record<number, Call>>>> = {
  x64: {
    0: "read",
    7: "poll",
    19: "read",
    23: "select",
    219: "restart",
    232: "epoll_wait",
    270: "pselect6",
    271: "ppoll",
    281: "epoll_wait",
    441: "epoll_pwait2",
  },
  arm64: {
    22: "epoll_wait",
    63: "read",
    65: "read",
    72: "pselect6",
    73: "ppoll",
    128: "restart",
    441: "epoll_pwait2",
  },
};

const MOST_THREADS = 256;
const MOST_FDS = 1024;
/** POLLIN, POLLPRI, POLLRDNORM; the epoll bits are the same. */
const READABLE = 0x43;

function blockedCall(pid: number, thread: number): BlockedCall | "other" | "hidden" {
  const line = readProcFile(`/proc/${pid}/task/${thread}/syscall`);
  if (line === undefined) return "hidden";
  // "running", or "-1 …" outside a call: neither is a number of the table
  const [number, ...words] = line.split(" ");
  const call = CALLS[process.arch]?.[Number(number)];
  const pointer = (index: number): number => Number(words[index]);
  const int = (index: number): number => Number.parseInt(words[index]?.slice(2).slice(-8) ?? "", 16) | 0;
  const poll = (timed: boolean): BlockedCall => ({
    thread,
    call: "poll",
    fds: pollSet(pid, pointer(0), pointer(1)),
    timed,
  });
  switch (call) {
    case undefined:
      return "other";
    case "read":
      return { thread, call: "read", fds: [int(0)], timed: false };
    case "poll":
      return poll(int(2) >= 0);
    case "restart":
      // A poll that was stopped and continued: same arguments, another number.
      return readProcFile(`/proc/${pid}/task/${thread}/wchan`)?.includes("poll") === true ? poll(int(2) >= 0) : "other";
    case "ppoll":
      return poll(pointer(2) !== 0);
    case "select":
    case "pselect6":
      return { thread, call: "select", fds: selectSet(pid, int(0), pointer(1)), timed: pointer(4) !== 0 };
    case "epoll_wait":
      return { thread, call: "epoll", fds: epollSet(pid, int(0)), timed: int(3) >= 0 };
    case "epoll_pwait2":
      return { thread, call: "epoll", fds: epollSet(pid, int(0)), timed: pointer(3) !== 0 };
  }
}

/** `struct pollfd { int fd; short events; short revents }` */
function pollSet(pid: number, address: number, count: number): number[] {
  const set = readMemory(pid, address, Math.min(count, MOST_FDS) * 8) ?? Buffer.alloc(0);
  const fds: number[] = [];
  for (let at = 0; at < set.length; at += 8) {
    const fd = set.readInt32LE(at);
    if (fd >= 0 && (set.readUInt16LE(at + 4) & READABLE) !== 0) fds.push(fd);
  }
  return fds;
}

function selectSet(pid: number, count: number, address: number): number[] {
  const set = readMemory(pid, address, Math.ceil(Math.min(count, MOST_FDS) / 8)) ?? Buffer.alloc(0);
  const fds: number[] = [];
  for (let fd = 0; fd < Math.min(count, set.length * 8); fd += 1) {
    if (((set[fd >> 3] ?? 0) & (1 << (fd & 7))) !== 0) fds.push(fd);
  }
  return fds;
}

function epollSet(pid: number, fd: number): number[] {
  const info = readProcFile(`/proc/${pid}/fdinfo/${fd}`) ?? "";
  const fds: number[] = [];
  for (const [, target, events] of info.matchAll(/^tfd:\s*(\d+)\s+events:\s*([0-9a-f]+)/gm)) {
    if ((Number.parseInt(events ?? "", 16) & READABLE) !== 0) fds.push(Number(target));
    if (fds.length === MOST_FDS) break;
  }
  return fds;
}
