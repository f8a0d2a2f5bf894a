/** The distributions, and the bounds that `--assert` judges. */
import { type Measure, percentile } from "../measure.ts";
import type { StopTimes } from "./scene.ts";

type Spread = Measure & { readonly p50: number; readonly most: number; readonly samples: number };

/** What a stop may add to a message there and back. */
const OVER_ECHO_MS = 5;

export function* figures(stops: readonly StopTimes[], bare: readonly number[]): Iterable<Measure> {
  const echo = percentile(bare, 0.99);
  yield p99("bare socket echo", bare);
  yield p99(
    "frame in the host → gate shut",
    stops.map((it) => it.gateMs),
    5,
  );
  yield p99(
    "STOP_NOW asked → gate shut",
    stops.map((it) => it.shutMs),
    echo + OVER_ECHO_MS,
  );
  yield p99(
    "STOP_NOW asked → answered",
    stops.map((it) => it.answeredMs),
  );
  yield p99(
    "STOP_NOW asked → the agent's processes dead",
    stops.map((it) => it.deadMs),
    250,
  );
  yield p99(
    "STOP_NOW asked → the agent's wait answered",
    stops.map((it) => it.toldMs),
  );
  yield { name: "survivors", value: sum(stops.map((it) => it.survivors)), unit: "processes", atMost: 0 };
  yield { name: "queued lines that ran", value: sum(stops.map((it) => it.linesRun)), unit: "lines", atMost: 0 };
}

function p99(name: string, values: readonly number[], atMost?: number): Spread {
  const [p50 = 0, most = 0] = [0.5, 1].map((share) => Number(percentile(values, share).toPrecision(4)));
  const bound = atMost === undefined ? {} : { atMost };
  return {
    name: `${name}, p99`,
    value: percentile(values, 0.99),
    unit: "ms",
    ...bound,
    p50,
    most,
    samples: values.length,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
