/**
 * What a run of the suite means: red means a defect. A test that fails and passes when its file runs once more, alone,
 * is flaky: it is reported, and up to five are allowed. Rules HSE-20 and HSE-21 in docs/spec/house.md.
 */
import { type FileReport, hasFailed, type RunReport, type TestReport } from "./report.ts";

export type Failure = { readonly file: string; readonly title: string; readonly error: string };

export type Verdict = {
  readonly passed: number;
  readonly skipped: readonly TestReport[];
  /** Tests that failed in both runs, and errors that no second run excuses. */
  readonly failures: readonly Failure[];
  /** Tests that failed in one run and passed in the other. They count as passed. */
  readonly flaky: readonly Failure[];
};

export const MOST_FLAKY = 5;
const HOOK = "a hook of the file";

/** The files that run once more. A file that can't be loaded wouldn't be forgiven anyway. */
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
  const unhandled = new Set([...first.unhandled, ...again.unhandled]);
  return {
    passed: verdicts.reduce((sum, it) => sum + it.passed, 0),
    skipped: verdicts.flatMap((it) => it.skipped),
    failures: [
      ...verdicts.flatMap((it) => it.failures),
      ...[...unhandled].map((error) => ({ file: "", title: "an error outside of any test", error })),
    ],
    flaky: verdicts.flatMap((it) => it.flaky),
  };
}

/** A run in which nothing ran shows nothing. */
export function isGreen({ passed, failures, flaky }: Verdict): boolean {
  return passed > 0 && failures.length === 0 && flaky.length <= MOST_FLAKY;
}

function judgeFile(first: FileReport, second: FileReport | undefined): Verdict {
  const { file, errors } = first;
  if (!first.isLoaded) return { passed: 0, skipped: [], flaky: [], failures: [unloadable(first)] };
  if (second?.isLoaded === false) {
    const { failures, ...verdict } = judgeFile(first, undefined);
    return { ...verdict, failures: [unloadable(second), ...failures] };
  }
  const judged = judgeTests(first, second).map((it) => (isUnreasoned(it, first, second) ? unreasoned(it) : it));
  const having = (outcome: Outcome) => judged.filter((it) => it.outcome === outcome);
  const hooks = outcomeOf(stateOfHooks(first), second && stateOfHooks(second));
  const failuresOf = (outcome: Outcome): Failure[] => [
    ...(hooks === outcome ? hookErrors(errors, second?.errors).map((error) => ({ file, title: HOOK, error })) : []),
    ...having(outcome).flatMap(({ title, failed }) => failed.map(({ error = "" }) => ({ file, title, error }))),
  ];
  return {
    passed: [...having("passed"), ...having("flaky")].reduce((sum, { tests }) => sum + tests.length, 0),
    skipped: having("skipped").flatMap(({ tests }) => tests),
    failures: failuresOf("failed"),
    flaky: failuresOf("flaky"),
  };
}

type Judged = ReturnType<typeof judgeRows>;

/** Behind a hook that failed, tests are skipped too. */
function isUnreasoned({ outcome, title, tests }: Judged, first: FileReport, second: FileReport | undefined): boolean {
  const isBehindHook = first.errors.length > 0 && (second === undefined || second.errors.length > 0);
  return outcome === "skipped" && !isBehindHook && reasonOf(title) === undefined && !tests.some((it) => it.missing);
}

function unreasoned(judged: Judged): Judged {
  const failed = judged.tests.map((it) => ({ ...it, error: "it was skipped, and its title doesn't say why" }));
  return { ...judged, outcome: "failed", failed };
}

/** The last brackets of a title, or of a suite around it, that say why it may be skipped. */
export function reasonOf(title: string): string | undefined {
  return [...title.matchAll(/\(((?:needs|only|skipped)\b(?:[^()]|\([^()]*\))*)\)/g)].at(-1)?.[1];
}

function unloadable({ file, errors }: FileReport): Failure {
  return { file, title: "the file itself", error: errors.join("\n") || "it has no test" };
}

/** Rows of a table may have the same title: they are judged together, and those that failed are counted. */
function judgeTests(first: FileReport, second: FileReport | undefined) {
  const others = Map.groupBy(second?.tests ?? [], ({ title }) => title);
  const firsts = Map.groupBy(first.tests, ({ title }) => title);
  return [...new Set([...firsts.keys(), ...others.keys()])].map((title) =>
    judgeRows(title, firsts.get(title) ?? [], others.get(title) ?? []),
  );
}

function judgeRows(title: string, first: readonly TestReport[], second: readonly TestReport[]) {
  // A row that failed in one run and wasn't there in the other is not forgiven.
  const isSame = first.length === second.length;
  const outcome = isSame ? outcomeOf(stateOf(first), stateOf(second)) : outcomeOf(stateOf([...first, ...second]));
  return {
    title,
    outcome,
    tests: first.length > 0 ? first : second,
    failed: failedOf(first) ?? failedOf(second) ?? [],
  };
}

type State = TestReport["state"];
type Outcome = State | "flaky";

function stateOf(tests: readonly TestReport[]): State {
  if (tests.some(({ state }) => state === "failed")) return "failed";
  return tests.some(({ state }) => state === "passed") ? "passed" : "skipped";
}

function stateOfHooks({ errors }: FileReport): State {
  return errors.length > 0 ? "failed" : "passed";
}

/** Undefined if none failed. */
function failedOf(tests: readonly TestReport[]): readonly TestReport[] | undefined {
  const failed = tests.filter(({ state }) => state === "failed");
  return failed.length === 0 ? undefined : failed;
}

/** Of the run in which they failed. */
function hookErrors(first: readonly string[], second: readonly string[] = []): readonly string[] {
  return first.length > 0 ? first : second;
}

/** A failed hook skips the tests behind it in the first run: then only the second run has a result for them. */
function outcomeOf(first: State, second?: State): Outcome {
  const states = new Set([first, second]);
  if (states.has("failed")) return states.has("passed") ? "flaky" : "failed";
  return states.has("passed") ? "passed" : "skipped";
}
