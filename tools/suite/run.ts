/** The tests of a tree: all of them once, those files that failed once more, and what both runs come to. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunReport } from "./report.ts";
import { filesToRepeat, judge, type Verdict } from "./verdict.ts";
import { runVitest, type VitestRun } from "./vitest-run.ts";

export type SuiteRun = { readonly first: RunReport; readonly verdict: Verdict };

export async function runSuite(run: VitestRun): Promise<SuiteRun> {
  const first = await runVitest(run);
  const failed = filesToRepeat(first);
  if (failed.length === 0) return { first, verdict: judge(first) };
  console.log(`\nOnce more, one by one: ${failed.join(", ")}`);
  const filters = failed.map((file) => join(run.root, file));
  const again = await runVitest({ ...run, filters, isAlone: true });
  return { first, verdict: judge(first, again) };
}

/** For other programs: what was counted, what failed, what was flaky, and how long each test took. */
export function writeJson(path: string, seed: string, { first, verdict }: SuiteRun): void {
  const { failures, flaky, passed, skipped } = verdict;
  writeFileSync(
    path,
    `${JSON.stringify({ seed, passed, skipped, failures, flaky, files: first.files }, undefined, 1)}\n`,
  );
}
