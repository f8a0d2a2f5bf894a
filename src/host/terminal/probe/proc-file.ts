/** Reads files of `/proc`: they have no size, change while they are read, and are gone or denied at any moment. */
import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";

/** A program can make its own files there as long as it likes: nobody reads more of one than this. */
const LONGEST = 256 * 1024;

const page = Buffer.alloc(4096);

/** Undefined when it is gone or denied. Only an empty read is the end: lists come in whole lines. */
export function readProcFile(path: string): string | undefined {
  return withFile(path, (fd) => {
    let text = "";
    for (let count = -1; count !== 0 && text.length < LONGEST;) {
      count = readSync(fd, page, 0, page.length, null);
      text += page.toString("latin1", 0, count);
    }
    return text;
  });
}

/** Part of another process's memory; undefined unless all of it can be read. */
export function readMemory(pid: number, address: number, bytes: number): Buffer | undefined {
  if (address === 0 || bytes === 0) return undefined;
  const memory = Buffer.alloc(bytes);
  return withFile(`/proc/${pid}/mem`, (fd) => (readSync(fd, memory, 0, bytes, address) === bytes ? memory : undefined));
}

/** The numeric entries of a directory: processes, threads, descriptors. */
export function numbersIn(path: string): number[] {
  try {
    return readdirSync(path).flatMap((name) => (isNumber(name) ? [Number(name)] : []));
  } catch {
    return [];
  }
}

export type OpenFile = { readonly dev: number; readonly rdev: number };

/** The file system and device of an open file, whatever its name is by now. */
export function openFile(pid: number, fd: number): OpenFile | undefined {
  try {
    return statSync(`/proc/${pid}/fd/${fd}`, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function withFile<T>(path: string, use: (fd: number) => T): T | undefined {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return undefined;
  }
  try {
    return use(fd);
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

function isNumber(name: string): boolean {
  const first = name.charCodeAt(0);
  return first >= 0x30 && first <= 0x39;
}
