import { setTimeout as later } from "node:timers/promises";
import { vi } from "vitest";
import { DEADLINE_MS } from "./deadline.ts";

/** Most of what is waited for comes within milliseconds, and each test waits a dozen times. */
const SOON_MS = [1, 2, 3, 4, 6, 8, 10, 12];

/** Waits for a condition on a machine that may be busy with something else. */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = DEADLINE_MS): Promise<T> {
  for (const ms of SOON_MS) {
    try {
      return await check();
    } catch {
      await later(ms);
    }
  }
  return vi.waitFor(check, { timeout: timeoutMs, interval: 20 });
}
