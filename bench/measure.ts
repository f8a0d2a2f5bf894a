/** One figure of a benchmark. Only ratios taken in one run mean something on a shared machine: those are judged. */
export type Measure = {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The smallest value that `--assert` accepts. */
  readonly atLeast?: number;
  /** The largest. */
  readonly atMost?: number;
};

export type Benchmark = { readonly run: () => AsyncIterable<Measure> };

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
