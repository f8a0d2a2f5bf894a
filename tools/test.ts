/**
 * What `npm test` runs: the checks, then every test. The last line is `N passed, N failed`; each step of the checks
 * counts as one test. Rule HSE-15 in docs/spec/house.md.
 *
 *   node tools/test.ts [filter …]    without the checks, only test files whose path contains a filter
 */
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runChecks } from "./check.ts";
import { isMain, ROOT } from "./source-files.ts";

export type Tally = { readonly passed: number; readonly failed: number; readonly skipped: number };

/** The parts of vitest's JSON report that are counted. */
export type Report = {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[];
};

/** A file that could not be loaded and a fault outside of any test have no failed test: each still counts as one. */
export function tallyOf(report: Report | undefined, exitCode: number): Tally {
  if (report === undefined) return { passed: 0, failed: 1, skipped: 0 };
  const unloaded = report.testResults.filter((it) => it.status === "failed" && it.assertionResults.length === 0).length;
  const failed = report.numFailedTests + unloaded;
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

export function lastLine(tally: Tally): string {
  return `${tally.passed} passed, ${tally.failed} failed`;
}

async function main(filters: readonly string[]): Promise<void> {
  const checks = filters.length > 0 ? [] : await runChecks();
  const seed = process.env.SIDESTICK_SEED ?? String(randomInt(2 ** 31));
  console.log(`seed ${seed} (to repeat: SIDESTICK_SEED=${seed} npm test)`);
  const tests = await runVitest(filters, seed);
  const checksPassed = checks.filter(({ ok }) => ok).length;
  const tally = {
    passed: tests.passed + checksPassed,
    failed: tests.failed + checks.length - checksPassed,
    skipped: tests.skipped,
  };
  if (checks.length > 0) console.log(`(${checks.length} of them are steps of npm run check)`);
  if (tally.skipped > 0) console.log(`(${tally.skipped} skipped; each says why in its title)`);
  console.log(lastLine(tally));
  process.exitCode = tally.failed > 0 ? 1 : 0;
}

async function runVitest(filters: readonly string[], seed: string): Promise<Tally> {
  const directory = mkdtempSync(join(tmpdir(), "sidestick-test-"));
  const file = join(directory, "report.json");
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--reporter=default", "--reporter=json"];
  const child = spawn(process.execPath, [...vitest, `--outputFile.json=${file}`, ...filters], {
    cwd: ROOT,
    env: { ...process.env, SIDESTICK_SEED: seed },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const exitCode = await new Promise<number>((resolve) => child.on("close", (code) => resolve(code ?? 1)));
  try {
    return tallyOf(readReport(file), exitCode);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** There is none when vitest itself broke down. */
function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Report;
  } catch {
    return undefined;
  }
}

if (isMain(import.meta.url)) await main(process.argv.slice(2));
