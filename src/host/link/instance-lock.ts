/**
 * One host for each data directory: whoever holds the kernel's lock on a file in it. The kernel lets go of it when the
 * process dies, however it dies, so there is nothing stale to find.
 */
import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";

const LOCK_EX = 2;
const LOCK_NB = 4;

/** Answers how to let go of it; undefined when another process holds it. */
export async function takeInstanceLock(path: string): Promise<(() => void) | undefined> {
  const { default: koffi } = await import("koffi");
  const flock = koffi.load("libc.so.6").func("int flock(int, int)");
  // Closed on exec by Node, so that no shell inherits it.
  const descriptor = openSync(path, "a", 0o600);
  const result: unknown = flock(descriptor, LOCK_EX | LOCK_NB);
  if (result !== 0) {
    closeSync(descriptor);
    return undefined;
  }
  // For people and messages only; the lock is what counts.
  ftruncateSync(descriptor);
  writeSync(descriptor, `${process.pid}\n`);
  return () => closeSync(descriptor);
}
