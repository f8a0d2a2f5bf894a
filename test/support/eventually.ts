import { vi } from "vitest";
import { DEADLINE_MS } from "./deadline.ts";

/** Waits for a condition on a machine that may be busy with something else. */
export function eventually<T>(check: () => T | Promise<T>, timeoutMs = DEADLINE_MS): Promise<T> {
  return vi.waitFor(check, { timeout: timeoutMs, interval: 20 });
}
