/**
 * Runs test files again and again beside busy processes, and reports how often each test failed: it finds tests, and
 * product code, that depend on speed. Rule HSE-24 in docs/spec/house.md.
 *
 *   npm run test:repeat -- <path> … [--times 30] [--load 4]
 *
 * Each round has a seed of its own, unless SIDESTICK_SEED names one.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { readOptions, refuseUnmatched, wholeNumber } from "./options.ts";
import { chosenPaths, isMain, ROOT } from "./source-files.ts";
import { installPackages } from "./suite/packages.ts";
import { measuredPatience } from "./suite/patience.ts";
import type { RunReport } from "./suite/report.ts";
import { inRunDirectory } from "./suite/run-directory.ts";
import { runVitest } from "./suite/vitest-run.ts";

const USAGE = `npm run test:repeat -- <path> … [--times 30] [--load 4]

  <path>    test files whose path contains it
  --times   how often they run, by default 30
  --load    how many processes keep a core busy meanwhile, by default 4

Each round has a seed of its own; SIDESTICK_SEED=N gives them all the same.`;

type Failing = { times: number; error: string };

/** In how many runs each test failed, by file and title, the most frequent first. */
export function tallyFailures(reports: readonly RunReport[]): Map<string, Failing> {
  const failing = new Map<string, Failing>();
  const add = (name: string, error: string): void => {
    const known = failing.get(name);
    failing.set(name, { times: (known?.times ?? 0) + 1, error: known?.error ?? error });
  };
  for (const report of reports) for (const [name, error] of failuresIn(report)) add(name, error);
  return new Map([...failing].toSorted(([, a], [, b]) => b.times - a.times));
}

/** Rows of a table may have the same title: they count once in a run. */
function failuresIn({ files, unhandled }: RunReport): Map<string, string> {
  const inFiles = files.flatMap(({ file, errors, tests }): (readonly [string, string])[] => [
    ...errors.map((error) => [`${file} > a hook or the file itself`, error] as const),
    ...tests
      .filter(({ state }) => state === "failed")
      .map(({ title, error = "" }) => [`${file} > ${title}`, error] as const),
  ]);
  return new Map([...unhandled.map((error) => ["an error outside of any test", error] as const), ...inFiles]);
}

type Options = { readonly filters: readonly string[]; readonly times: number; readonly load: number };

function read(args: string[]): Options {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { times: { type: "string", default: "30" }, load: { type: "string", default: "4" } },
  });
  if (positionals.length === 0) throw new Error("Which test files?");
  refuseUnmatched(positionals);
  return {
    filters: positionals,
    times: wholeNumber("--times", values.times, 1),
    load: wholeNumber("--load", values.load, 0),
  };
}

async function main(args: string[]): Promise<void> {
  const options = readOptions(args, USAGE, () => read(args));
  if (options === undefined) return;
  const { filters, times, load } = options;
  await installPackages(filters);
  const busy = Array.from({ length: load }, keepBusy);
  const stop = (): void => busy.forEach((it) => it.kill("SIGKILL"));
  process.on("exit", stop);
  const patience = await measuredPatience();
  const reports: RunReport[] = [];
  // Also of a run that is interrupted.
  process.on("exit", () => printTally(reports));
  for (let round = 1; round <= times; round += 1) {
    const seed = process.env["SIDESTICK_SEED"] ?? String(randomInt(2 ** 31));
    const began = performance.now();
    const settings = { ...patience, SIDESTICK_SEED: seed };
    const { run: report } = await inRunDirectory(({ env }) =>
      runVitest({ root: ROOT, filters: chosenPaths(filters), env: { ...env, ...settings }, output: "ignore" }),
    );
    reports.push(report);
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    console.log(`${round} of ${times}, ${seconds} s, seed ${seed}: ${roundLine(report)}`);
  }
  stop();
}

function roundLine(report: RunReport): string {
  const tests = report.files.flatMap((it) => it.tests);
  const failed = [...tallyFailures([report])];
  const counts = `${tests.filter(({ state }) => state === "passed").length} passed, ${failed.length} failed`;
  return [counts, ...failed.flatMap(([name, { error }]) => [name, `  ${error.split("\n", 1)[0]}`])].join("\n    ");
}

function printTally(reports: readonly RunReport[]): void {
  const failing = tallyFailures(reports);
  for (const [name, { times, error }] of failing) console.log(`\n${times} of ${reports.length}: ${name}\n  ${error}`);
  const tests = reports.flatMap(({ files }) => files).flatMap((it) => it.tests);
  const passed = tests.filter(({ state }) => state === "passed").length;
  const failures = [...failing.values()].reduce((sum, { times }) => sum + times, 0);
  console.log(`\n${failing.size} tests failed at least once`);
  console.log(`${passed} passed, ${failures} failed`);
  if (failures > 0 || passed === 0) process.exitCode ||= 1;
}

/** It ends with this process also if that is killed: its standard input ends then. */
function keepBusy(): ChildProcess {
  const loop = `process.stdin.on("end", () => process.exit()).resume(); const burn = () => { const until = Date.now() + 20; while (Date.now() < until); setImmediate(burn); }; burn();`;
  return spawn(process.execPath, ["-e", loop], { stdio: ["pipe", "ignore", "ignore"] });
}

if (isMain(import.meta.url)) await main(process.argv.slice(2));
