import { expect, test } from "vitest";
import { tallyFailures } from "../repeat.ts";
import { patience } from "./patience.ts";
import type { RunReport } from "./report.ts";

function patienceFor(value: string | undefined): number {
  const before = process.env["SIDESTICK_PATIENCE"];
  try {
    if (value === undefined) delete process.env["SIDESTICK_PATIENCE"];
    else process.env["SIDESTICK_PATIENCE"] = value;
    return patience();
  } finally {
    if (before === undefined) delete process.env["SIDESTICK_PATIENCE"];
    else process.env["SIDESTICK_PATIENCE"] = before;
  }
}

test("[HSE-22] the deadline is never shorter than on a quick machine, nor without end", () => {
  expect([undefined, "2.5", "0.1", "1000", "much"].map(patienceFor)).toEqual([1, 2.5, 1, 4, 1]);
});

test("[HSE-22] a deadline is a whole number of milliseconds, however slow the machine is", () => {
  const factors = Array.from({ length: 40 }, (_, tenths) => patienceFor(String(tenths / 10)));

  expect(factors.filter((it) => !Number.isInteger(2_000 * it))).toEqual([]);
  expect(patienceFor("2.2")).toBe(2.5);
});

test("[HSE-24] failures are counted by test, the most frequent first, each with its first error", () => {
  const run = (error: string, unhandled: readonly string[] = []): RunReport => {
    const test = { title: "waits", state: "failed", ms: 1, error } as const;
    return { unhandled, files: [{ file: "a.test.ts", ms: 1, isLoaded: true, errors: [], tests: [test] }] };
  };

  expect([...tallyFailures([run("too slow", ["a worker died"]), run("gone")])]).toEqual([
    ["a.test.ts > waits", { times: 2, error: "too slow" }],
    ["an error outside of any test", { times: 1, error: "a worker died" }],
  ]);
});
