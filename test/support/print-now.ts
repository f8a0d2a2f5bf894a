import { writeSync } from "node:fs";

const A_MOMENT_MS = 1;

/** Prints before it returns, for a program that may be killed next. On a busy machine its reader may be late: it waits for room. */
export function printNow(text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(1, bytes, done);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, A_MOMENT_MS);
    }
  }
}
