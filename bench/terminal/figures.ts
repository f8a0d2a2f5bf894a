/** Figures with their spread, and the ratios that are judged. */
import { type Measure, median, percentile } from "../measure.ts";

export type Figure = Measure & {
  readonly samples?: number;
  readonly least?: number;
  readonly most?: number;
  readonly p95?: number;
};

export type Bound = { readonly atLeast: number } | { readonly atMost: number };

/** The median of what was measured, with its spread. */
export function figure(name: string, unit: string, samples: readonly number[], bound?: Bound): Figure {
  const [least, most, p95] = [0, 1, 0.95].map((share) => short(percentile(samples, share)));
  return {
    name,
    value: median(samples),
    unit,
    ...bound,
    samples: samples.length,
    least: least!,
    most: most!,
    p95: p95!,
  };
}

/** The quotients of two series, round by round. */
export function ratios(ours: readonly number[], theirs: readonly number[]): number[] {
  return ours.map((value, round) => value / (theirs[round] ?? Number.NaN));
}

export function milliseconds(nanoseconds: readonly number[]): number[] {
  return nanoseconds.map((it) => it / 1e6);
}

function short(value: number): number {
  return Number(value.toPrecision(4));
}
