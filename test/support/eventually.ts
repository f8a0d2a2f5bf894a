import { vi } from "vitest";

/** Waits for a condition on a machine that may be busy with something else. */
export function eventually<T>(check: () => T | Promise<T>, timeoutMs = 15_000): Promise<T> {
  return vi.waitFor(check, { timeout: timeoutMs, interval: 20 });
}
