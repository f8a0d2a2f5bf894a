import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startTimer } from "./long-timer.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([1, 2 ** 31 - 1, 2 ** 31, 3 * 2 ** 31 + 5])(
  "[HUB-9] a timer of %d ms fires then and not before",
  (delayMs) => {
    const fire = vi.fn();
    startTimer(delayMs, fire);

    vi.advanceTimersByTime(Math.max(0, delayMs - 1));
    expect(fire).toHaveBeenCalledTimes(0);
    vi.advanceTimersByTime(1);
    expect(fire).toHaveBeenCalledTimes(1);
  },
);

test("[HUB-9] a disposed timer never fires", () => {
  const fire = vi.fn();
  startTimer(2 ** 32, fire)[Symbol.dispose]();

  vi.advanceTimersByTime(2 ** 33);
  expect(fire).toHaveBeenCalledTimes(0);
});
