/** After how much silence something is done, and which of it is told. */

export const SETTLE_MS = 20;
export const TOLD_MS: ReadonlySet<number> = new Set([30, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000]);
/** 60 ms is told to nobody: a program that was still on its way to its question at 30 is found before 100. */
export const RUNGS_MS: readonly number[] = [SETTLE_MS, ...TOLD_MS, 60].toSorted((a, b) => a - b);
