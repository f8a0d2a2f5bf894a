/**
 * Milliseconds since the machine was started, sleep included: the clock by which the kernel notes when a process began.
 * A wall clock can be set, and a monotonic one stands still while the machine sleeps.
 */
import koffi from "koffi";

export function bootTimeMs(): number {
  const time = new BigInt64Array(2);
  if (clockGettime(CLOCK_BOOTTIME, time) !== 0) throw new Error("The kernel has no clock of its start");
  return Number(time[0]) * 1_000 + Number(time[1]) / 1_000_000;
}

const CLOCK_BOOTTIME = 7;

const clockGettime = koffi.load(null).func("int clock_gettime(int clock, _Out_ int64_t *time)") as (
  clock: number,
  time: BigInt64Array,
) => number;
