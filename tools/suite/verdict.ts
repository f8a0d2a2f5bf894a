/**
 * What a run of the suite means: red means a defect. A test that failed and passes when its file runs once more, alone,
 * is flaky: told, and forgiven while there are few. Rules HSE-20 and HSE-21 in docs/spec/house.md.
 */
import { type FileReport, hasFailed, type RunReport, type TestReport } from "./report.ts";

export type Failure = { readonly file: string; readonly title: string; readonly error: string };

export type Verdict = {
  readonly passed: number;
  readonly skipped: number;
  /** Never passed, or never forgiven. */
  readonly failures: readonly Failure[];
  /** Failed once and passed once; they count as passed. */
  readonly flaky: readonly Failure[];
};

export const MOST_FLAKY = 5;

/** Files that run once more. One that can't be loaded wouldn't be forgiven anyway. */
export function filesToRepeat({ files }: RunReport): string[] {
  return files.filter((it) => it.isLoaded && hasFailed(it)).map(({ file }) => file);
}

export function judge(first: RunReport, again: RunReport = { files: [], unhandled: [] }): Verdict {
  const verdicts = first.files.map((it) =>
    judgeFile(
      it,
      again.files.find(({ file }) => file === it.file),
    ),
  );
  const unhandled = [...first.unhandled, ...again.unhandled];
  return {
    passed: verdicts.reduce((sum, it) => sum + it.passed, 0),
    skipped: verdicts.reduce((sum, it) => sum + it.skipped, 0),
    failures: [
      ...verdicts.flatMap((it) => it.failures),
      ...unhandled.map((error) => ({ file: "", title: "an error outside of any test", error })),
    ],
    flaky: verdicts.flatMap((it) => it.flaky),
  };
}

export function isGreen({ failures, flaky }: Verdict): boolean {
  return failures.length === 0 && flaky.length <= MOST_FLAKY;
}

function judgeFile(first: FileReport, second: FileReport | undefined): Verdict {
  const { file, isLoaded, errors } = first;
  if (!isLoaded) {
    const error = errors.join("\n") || "it has no test";
    return { passed: 0, skipped: 0, flaky: [], failures: [{ file, title: "the file can't be loaded", error }] };
  }
  const hooks = outcomeOf(
    errors.length > 0 ? "failed" : "passed",
    second && (second.errors.length > 0 ? "failed" : "passed"),
  );
  const hookFailure = { file, title: "a hook of the file", error: [...errors, ...(second?.errors ?? [])][0] ?? "" };
  // Titles of a table's rows may be the same: they are judged together.
  const byTitle = Map.groupBy(first.tests, ({ title }) => title);
  const judged = [...byTitle].map(([title, tests]) => {
    const others = second?.tests.filter((it) => it.title === title);
    const error = [...tests, ...(others ?? [])].find((it) => it.error !== undefined)?.error ?? "";
    return {
      count: tests.length,
      outcome: outcomeOf(stateOf(tests), others && stateOf(others)),
      failure: { file, title, error },
    };
  });
  const count = (outcomes: readonly Outcome[]): number =>
    judged.filter((it) => outcomes.includes(it.outcome)).reduce((sum, it) => sum + it.count, 0);
  const failuresOf = (outcome: Outcome): Failure[] => [
    ...(hooks === outcome ? [hookFailure] : []),
    ...judged.filter((it) => it.outcome === outcome).map(({ failure }) => failure),
  ];
  return {
    passed: count(["passed", "flaky"]),
    skipped: count(["skipped"]),
    failures: failuresOf("failed"),
    flaky: failuresOf("flaky"),
  };
}

type State = TestReport["state"];
type Outcome = State | "flaky";

function stateOf(tests: readonly TestReport[]): State {
  if (tests.some(({ state }) => state === "failed")) return "failed";
  return tests.some(({ state }) => state === "passed") ? "passed" : "skipped";
}

/** A test is skipped in the first run also when a hook before it failed: then only the second tells of it. */
function outcomeOf(first: State, second: State | undefined): Outcome {
  const states = new Set([first, second]);
  if (states.has("failed")) return states.has("passed") ? "flaky" : "failed";
  return states.has("passed") ? "passed" : "skipped";
}
