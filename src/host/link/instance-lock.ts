/**
 * One host for each data directory: whoever holds the kernel's lock on a file in it. The kernel lets go of it when the
 * process dies, however it dies, so there is nothing stale to find.
 */
import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const LOCK_SH = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;
/** Whoever only looks holds it for a moment, in which a host that starts must not take itself for the second. */
const LOOKED_AT_MS = [10, 40, 150, 300];

/** Answers how to let go of it; undefined when another process holds it. */
export async function takeInstanceLock(path: string): Promise<(() => void) | undefined> {
  const flock = await loadFlock();
  // Closed on exec by Node, so that no shell inherits it.
  const descriptor = openSync(path, "a", 0o600);
  const waits = [...LOOKED_AT_MS];
  while (flock(descriptor, LOCK_EX | LOCK_NB) !== 0) {
    const ms = waits.shift();
    if (ms === undefined) {
      closeSync(descriptor);
      return undefined;
    }
    await sleep(ms);
  }
  // For people and messages only; the lock is what counts.
  ftruncateSync(descriptor);
  writeSync(descriptor, `${process.pid}\n`);
  return () => closeSync(descriptor);
}

/** Whether another process holds it. Changes nothing. */
export async function isInstanceLocked(path: string): Promise<boolean> {
  const flock = await loadFlock();
  const descriptor = openSync(path, "r");
  const result = flock(descriptor, LOCK_SH | LOCK_NB);
  closeSync(descriptor);
  return result !== 0;
}

async function loadFlock(): Promise<(descriptor: number, operation: number) => number> {
  const { default: koffi } = await import("koffi");
  return koffi.load("libc.so.6").func("int flock(int, int)") as (descriptor: number, operation: number) => number;
}
