/** The tests of a tree: all files once, those that failed a second time, and the verdict on both runs. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { RunReport } from "./report.ts";
import { filesToRepeat, judge, type Verdict } from "./verdict.ts";
import { runVitest, type VitestRun } from "./vitest-run.ts";

export type SuiteRun = {
  readonly first: RunReport;
  readonly verdict: Verdict;
  /** Of the files that should have run. */
  readonly notRun: readonly string[];
};

type Around = {
  /** Each of them that doesn't run is a failure. */
  readonly expected?: readonly string[];
  /** Files that an interrupted run had finished. They don't run again, unless they failed. */
  readonly earlier?: RunReport;
  /** Ends what the first run left, so that nothing runs beside the second. */
  readonly clear?: () => Promise<void>;
};

export async function runSuite(run: VitestRun, { expected = [], earlier, clear }: Around = {}): Promise<SuiteRun> {
  // To vitest no filter means every file.
  const isDone = earlier !== undefined && run.filters.length === 0;
  const first = joined(earlier, isDone ? { files: [], unhandled: [] } : await runVitest(run));
  const failed = filesToRepeat(first);
  const ran = new Set(first.files.map(({ file }) => file));
  const notRun = expected.filter((file) => !ran.has(file));
  const judged = (again?: RunReport): SuiteRun => ({ first, verdict: withNotRun(judge(first, again), notRun), notRun });
  if (failed.length === 0) return judged();
  if (run.output !== "ignore") console.log(`\nOnce more, one by one: ${failed.join(", ")}`);
  await clear?.();
  const { progress: _, ...again } = run;
  const filters = failed.map((file) => join(run.root, file));
  return judged(await runVitest({ ...again, filters, isAlone: true }));
}

/** Whatever vitest's configuration leaves out would otherwise be missed by nobody. */
function withNotRun(verdict: Verdict, notRun: readonly string[]): Verdict {
  const failures = notRun.map((file) => ({ file, title: "the file itself", error: "it didn't run" }));
  return { ...verdict, failures: [...failures, ...verdict.failures] };
}

function joined(earlier: RunReport | undefined, now: RunReport): RunReport {
  if (earlier === undefined) return now;
  return { ...now, files: [...earlier.files, ...now.files], unhandled: [...earlier.unhandled, ...now.unhandled] };
}

/**
 * For other programs: what was counted, what failed, what was flaky, and how long each test took. Returns the line for
 * the summary.
 */
export function writeJson(path: string, seed: string, { first, verdict }: Pick<SuiteRun, "first" | "verdict">): string {
  const { failures, flaky, passed, skipped } = verdict;
  const report = { seed, passed, skipped: skipped.map(({ title }) => title), failures, flaky, files: first.files };
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${JSON.stringify(report, undefined, 1)}\n`);
    return `report: ${relative(process.cwd(), path)}`;
  } catch (error) {
    return `The report could not be written: ${String(error)}`;
  }
}
