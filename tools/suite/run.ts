/** The tests of a tree: all of them once, those files that failed once more, and what both runs come to. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { RunReport } from "./report.ts";
import { filesToRepeat, judge, type Verdict } from "./verdict.ts";
import { runVitest, type VitestRun } from "./vitest-run.ts";

export type SuiteRun = { readonly first: RunReport; readonly verdict: Verdict };

type Between = {
  /** Files that an interrupted run had finished. They don't run again, unless they failed. */
  readonly earlier?: RunReport;
  /** Ends what the first run left, so that nothing runs beside the second. */
  readonly clear?: () => Promise<void>;
};

export async function runSuite(run: VitestRun, { earlier, clear }: Between = {}): Promise<SuiteRun> {
  // To vitest no filter means every file.
  const isDone = earlier !== undefined && run.filters.length === 0;
  const first = joined(earlier, isDone ? { files: [], unhandled: [] } : await runVitest(run));
  const failed = filesToRepeat(first);
  if (failed.length === 0) return { first, verdict: judge(first) };
  if (run.output !== "ignore") console.log(`\nOnce more, one by one: ${failed.join(", ")}`);
  await clear?.();
  const { progress: _, ...again } = run;
  const filters = failed.map((file) => join(run.root, file));
  return { first, verdict: judge(first, await runVitest({ ...again, filters, isAlone: true })) };
}

function joined(earlier: RunReport | undefined, now: RunReport): RunReport {
  if (earlier === undefined) return now;
  return { files: [...earlier.files, ...now.files], unhandled: [...earlier.unhandled, ...now.unhandled] };
}

/**
 * For other programs: what was counted, what failed, what was flaky, and how long each test took. Returns the line for
 * the summary.
 */
export function writeJson(path: string, seed: string, { first, verdict }: SuiteRun): string {
  const { failures, flaky, passed, skipped } = verdict;
  const report = { seed, passed, skipped: skipped.length, failures, flaky, files: first.files };
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${JSON.stringify(report, undefined, 1)}\n`);
    return `report: ${relative(process.cwd(), path)}`;
  } catch (error) {
    return `The report could not be written: ${String(error)}`;
  }
}
