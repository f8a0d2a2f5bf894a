/**
 * Runs test files again and again beside busy processes, and tells how often each test failed: for finding tests that
 * assume a speed, and products that do. Rule HSE-24 in docs/spec/house.md.
 *
 *   npm run test:repeat -- <path> … [--times 30] [--load 4]
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { isMain, ROOT } from "./source-files.ts";
import { installPackages } from "./suite/packages.ts";
import { measuredPatience } from "./suite/patience.ts";
import type { RunReport } from "./suite/report.ts";
import { inRunDirectory } from "./suite/run-directory.ts";
import { runVitest } from "./suite/vitest-run.ts";

const USAGE = `npm run test:repeat -- <path> … [--times 30] [--load 4]

  <path>    test files whose path contains it
  --times   how often they run, 30 unless told
  --load    how many processes keep a core busy meanwhile, 4 unless told`;

type Failing = { times: number; error: string };

/** How often each test failed, by file and title, the most frequent first. */
export function tallyFailures(reports: readonly RunReport[]): Map<string, Failing> {
  const failing = new Map<string, Failing>();
  const add = (name: string, error: string): void => {
    const known = failing.get(name);
    failing.set(name, { times: (known?.times ?? 0) + 1, error: known?.error ?? error });
  };
  for (const { files, unhandled } of reports) {
    for (const error of unhandled) add("an error outside of any test", error);
    for (const { file, errors, tests } of files) {
      for (const error of errors) add(`${file} > a hook or the file itself`, error);
      for (const { state, title, error = "" } of tests) if (state === "failed") add(`${file} > ${title}`, error);
    }
  }
  return new Map([...failing].toSorted(([, a], [, b]) => b.times - a.times));
}

async function main(argv: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      times: { type: "string", default: "30" },
      load: { type: "string", default: "4" },
      help: { type: "boolean" },
    },
  });
  const [times, load] = [Number(values.times), Number(values.load)];
  const isUsable = Number.isInteger(times) && times > 0 && Number.isInteger(load) && load >= 0;
  if (values.help === true || positionals.length === 0 || !isUsable) {
    console.log(USAGE);
    process.exitCode = values.help === true ? 0 : 1;
    return;
  }
  await installPackages(positionals);
  const busy = Array.from({ length: load }, keepBusy);
  const stop = (): void => busy.forEach((it) => it.kill("SIGKILL"));
  process.on("exit", stop);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));
  const patience = await measuredPatience();
  const reports: RunReport[] = [];
  for (let round = 1; round <= times; round += 1) {
    const seed = String(randomInt(2 ** 31));
    const began = performance.now();
    const settings = { ...patience, SIDESTICK_SEED: seed };
    const { run: report } = await inRunDirectory((env) =>
      runVitest({ root: ROOT, filters: positionals, env: { ...env, ...settings }, output: "ignore" }),
    );
    reports.push(report);
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    console.log(`${round} of ${times}, ${seconds} s, seed ${seed}: ${roundLine(report)}`);
  }
  stop();
  printTally(reports);
}

function roundLine(report: RunReport): string {
  const tests = report.files.flatMap((it) => it.tests);
  const failed = [...tallyFailures([report]).keys()];
  const counts = `${tests.filter(({ state }) => state === "passed").length} passed, ${failed.length} failed`;
  return [counts, ...failed].join("\n    ");
}

function printTally(reports: readonly RunReport[]): void {
  const failing = tallyFailures(reports);
  for (const [name, { times, error }] of failing) console.log(`\n${times} of ${reports.length}: ${name}\n  ${error}`);
  const tests = reports.reduce((sum, { files }) => sum + files.flatMap((it) => it.tests).length, 0);
  const failures = [...failing.values()].reduce((sum, { times }) => sum + times, 0);
  console.log(`\n${failing.size} tests failed at least once`);
  console.log(`${tests - failures} passed, ${failures} failed`);
  process.exitCode = failures > 0 || tests === 0 ? 1 : 0;
}

/** It ends with this process also if that is killed: its standard input ends then. */
function keepBusy(): ChildProcess {
  const loop = `process.stdin.on("end", () => process.exit()).resume(); const burn = () => { const until = Date.now() + 20; while (Date.now() < until); setImmediate(burn); }; burn();`;
  return spawn(process.execPath, ["-e", loop], { stdio: ["pipe", "ignore", "ignore"] });
}

if (isMain(import.meta.url)) await main(process.argv.slice(2));
