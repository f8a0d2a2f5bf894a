/** What `npm test` prints when everything has run. */
import type { RunReport } from "./report.ts";
import { packageOf } from "./needs.ts";
import { type Leftovers, leftoverLines } from "./run-directory.ts";
import { type Failure, isGreen, MOST_FLAKY, type Verdict } from "./verdict.ts";

export type Outcome = {
  readonly verdict: Verdict;
  readonly left: Leftovers;
  readonly seed: string;
  readonly skipped: readonly string[];
};

export function summaryLines({ verdict, left, seed, skipped }: Outcome): string[] {
  const { flaky, failures } = verdict;
  const flakyHead = `flaky (${flaky.length}): failed among the others, passed alone with the same seed ${seed}`;
  return [
    ...leftoverLines(left),
    ...(flaky.length === 0 ? [] : ["", flakyHead, ...flaky.flatMap(failureLines)]),
    ...(flaky.length > MOST_FLAKY ? [`More than ${MOST_FLAKY} flaky tests fail the run.`] : []),
    ...(failures.length === 0 ? [] : ["", `failed (${failures.length}):`, ...failures.flatMap(failureLines)]),
    "",
    ...skipped,
  ];
}

function failureLines({ file, title, error }: Failure): string[] {
  const [first = "", ...rest] = error.split("\n");
  return [`  ${file}${file === "" ? "" : " > "}${title}`, `    ${first}${rest.length > 0 ? " …" : ""}`];
}

/** One line for what is missing, one for the tests that say themselves why they don't run. */
export function skippedLines({ files }: RunReport): string[] {
  const skipped = files.flatMap((it) => it.tests).filter(({ state }) => state === "skipped");
  const without = skipped.filter(({ missing }) => missing !== undefined);
  const missing = [...new Set(without.flatMap((it) => it.missing ?? []))].toSorted();
  const others = skipped.length - without.length;
  return [
    ...(missing.length === 0
      ? []
      : [
          `skipped ${without.length}: ${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing; ` +
            `sudo apt-get install ${[...new Set(missing.map(packageOf))].join(" ")}`,
        ]),
    ...(others === 0 ? [] : [`skipped ${others}: each says why in its title`]),
  ];
}

/** Where the time went: the slowest files and tests, and every folder. */
export function slowestLines({ files }: RunReport, count: number): string[] {
  const tests = files.flatMap(({ file, tests: its }) =>
    its.map(({ title, ms }) => ({ name: `${file} > ${title}`, ms })),
  );
  const folders = Map.groupBy(files, ({ file }) => folderOf(file));
  const sums = [...folders].map(([name, its]) => ({ name, ms: its.reduce((sum, { ms }) => sum + ms, 0) }));
  const table = (head: string, rows: readonly Timed[]): string[] => [
    "",
    head,
    ...rows.toSorted(bySlowness).map(timeLine),
  ];
  return [
    ...table("seconds by folder (a worker's, waiting included):", sums),
    ...table(
      `the ${count} slowest files:`,
      files
        .map(({ file, ms }) => ({ name: file, ms }))
        .toSorted(bySlowness)
        .slice(0, count),
    ),
    ...table(`the ${count} slowest tests:`, tests.toSorted(bySlowness).slice(0, count)),
  ];
}

type Timed = { readonly name: string; readonly ms: number };

const bySlowness = (a: Timed, b: Timed): number => b.ms - a.ms;
const timeLine = ({ name, ms }: Timed): string => `${(ms / 1000).toFixed(1).padStart(8)}  ${name}`;
const folderOf = (file: string): string => file.split("/").slice(0, -1).slice(0, 3).join("/");

/** The last line of `npm test`; too many flaky tests are one more failure. */
export function lastLine(verdict: Verdict): string {
  const { passed, failures } = verdict;
  const failed = failures.length === 0 && !isGreen(verdict) ? 1 : failures.length;
  return `${passed} passed, ${failed} failed`;
}
