import process from "node:process";

/** Milliseconds of this thread's own work: what another process takes, and a machine that stands still, is not ours. */
export function workedMs(work: () => unknown): number {
  const began = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(began);
  return (user + system) / 1000;
}
