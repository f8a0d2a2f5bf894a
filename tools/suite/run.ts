/** The tests of a tree: all of them once, those files that failed once more, and what both runs come to. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunReport } from "./report.ts";
import { filesToRepeat, judge, type Verdict } from "./verdict.ts";
import { runVitest, type VitestRun } from "./vitest-run.ts";

export type SuiteRun = { readonly first: RunReport; readonly verdict: Verdict };

/** `earlier`: files that an interrupted run had finished. They are counted, and don't run. */
export async function runSuite(run: VitestRun, earlier: RunReport["files"] = []): Promise<SuiteRun> {
  const now = await runVitest(run);
  const first = { ...now, files: [...earlier, ...now.files] };
  const failed = filesToRepeat(now);
  if (failed.length === 0) return { first, verdict: judge(first) };
  if (run.output !== "ignore") console.log(`\nOnce more, one by one: ${failed.join(", ")}`);
  const { progress: _, ...again } = run;
  const filters = failed.map((file) => join(run.root, file));
  return { first, verdict: judge(first, await runVitest({ ...again, filters, isAlone: true })) };
}

/** For other programs: what was counted, what failed, what was flaky, and how long each test took. */
export function writeJson(path: string, seed: string, { first, verdict }: SuiteRun): void {
  const { failures, flaky, passed, skipped } = verdict;
  const report = { seed, passed, skipped, failures, flaky, files: first.files };
  writeFileSync(path, `${JSON.stringify(report, undefined, 1)}\n`);
}
