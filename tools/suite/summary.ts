/** What `npm test` prints when everything has run. */
import type { RunReport, TestReport } from "./report.ts";
import { NAMESPACES, packageOf } from "./needs.ts";
import { type Leftovers, leftoverLines } from "./run-directory.ts";
import { type Failure, MOST_FLAKY, reasonOf, type Verdict } from "./verdict.ts";

export type Outcome = { readonly verdict: Verdict; readonly left: Leftovers; readonly seed: string };

export function summaryLines({ verdict, left, seed }: Outcome): string[] {
  const { passed, flaky, failures, skipped } = verdict;
  const flakyHead = `flaky (${flaky.length}): failed in one of two runs with seed ${seed}, passed in the other`;
  return [
    ...leftoverLines(left),
    ...(flaky.length === 0 ? [] : ["", flakyHead, ...flaky.flatMap(failureLines), advice(flaky)]),
    ...(flaky.length > MOST_FLAKY ? [`More than ${MOST_FLAKY} flaky tests fail the run.`] : []),
    ...(failures.length === 0 ? [] : ["", `failed (${failures.length}):`, ...failures.flatMap(failureLines)]),
    ...againLines(failures, seed),
    "",
    ...skippedLines(skipped),
    ...(passed === 0 && failures.length === 0 ? ["No test ran, so the run failed."] : []),
  ];
}

function advice(flaky: readonly Failure[]): string {
  const files = [...new Set(flaky.map(({ file }) => file))];
  return `Each is a defect until it is explained. To bring it back: npm run test:repeat -- ${files.join(" ")}`;
}

function againLines(failures: readonly Failure[], seed: string): string[] {
  const files = [...new Set(failures.map(({ file }) => file))].filter((file) => file !== "");
  if (files.length === 0) return [];
  const named = files.length > MOST_NAMED ? [...files.slice(0, MOST_NAMED), "…"] : files;
  return [`To repeat: SIDESTICK_SEED=${seed} npm test -- ${named.join(" ")}`];
}

function failureLines({ file, title, error }: Failure): string[] {
  const [first = "", ...rest] = error.split("\n");
  return [`  ${file}${file === "" ? "" : " > "}${title}`, `    ${first}${rest.length > 0 ? " …" : ""}`];
}

/** One line for programs that are missing, one for the other reasons, which stand in the titles. */
export function skippedLines(skipped: readonly TestReport[]): string[] {
  const without = skipped.filter(({ missing }) => missing !== undefined);
  const missing = [...new Set(without.flatMap((it) => it.missing ?? []))].toSorted();
  const others = skipped.filter((it) => it.missing === undefined).map(({ title }) => reasonOf(title) ?? BEHIND_HOOK);
  return [
    ...(missing.length === 0 ? [] : [`skipped ${without.length}: ${remedies(missing).join("; ")}`]),
    ...(others.length === 0 ? [] : [`skipped ${others.length}: ${counted(others).join(", ")}`]),
  ];
}

function remedies(missing: readonly string[]): string[] {
  const programs = missing.filter((it) => it !== NAMESPACES);
  const packages = [...new Set(programs.map(packageOf))].join(" ");
  return [
    ...(programs.length === 0
      ? []
      : [`${programs.join(", ")} ${programs.length === 1 ? "is" : "are"} missing; sudo apt-get install ${packages}`]),
    ...(missing.includes(NAMESPACES) ? ["this machine lets nobody make namespaces"] : []),
  ];
}

const MOST_NAMED = 5;
const BEHIND_HOOK = "behind a hook that failed";

/** Each text once, with how often it is there, the most frequent first. */
function counted(texts: readonly string[]): string[] {
  return [...Map.groupBy(texts, (it) => it)]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([text, { length }]) => `${text} (${length})`);
}

/** Where the time went: the slowest files and tests, and every folder. */
export function slowestLines({ files }: RunReport, count: number): string[] {
  const tests = files.flatMap(({ file, tests: its }) =>
    its.map(({ title, ms }) => ({ name: `${file} > ${title}`, ms })),
  );
  const folders = Map.groupBy(files, ({ file }) => folderOf(file));
  const sums = [...folders].map(([name, its]) => ({ name, ms: its.reduce((sum, { ms }) => sum + ms, 0) }));
  const table = (head: string, rows: readonly Timed[], most = rows.length): string[] => [
    "",
    head,
    ...rows.toSorted(bySlowness).slice(0, most).map(timeLine),
  ];
  const timedFiles = files.map(({ file, ms }) => ({ name: file, ms }));
  return [
    ...table("seconds by folder (a worker's, waiting included):", sums),
    ...table(`the ${count} slowest files:`, timedFiles, count),
    ...table(`the ${count} slowest tests:`, tests, count),
  ];
}

type Timed = { readonly name: string; readonly ms: number };

const bySlowness = (a: Timed, b: Timed): number => b.ms - a.ms;
const timeLine = ({ name, ms }: Timed): string => `${(ms / 1000).toFixed(1).padStart(8)}  ${name}`;
const folderOf = (file: string): string => file.split("/").slice(0, -1).slice(0, 3).join("/");

/** The last line of `npm test`. Too many flaky tests are one more failure. */
export function lastLine({ passed, failures, flaky }: Verdict): string {
  return `${passed} passed, ${failures.length + (flaky.length > MOST_FLAKY ? 1 : 0)} failed`;
}
