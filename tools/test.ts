/**
 * What `npm test` runs: the checks, every test, and then, once more and alone, each file that failed. The last line is
 * `N passed, N failed`; each step of the checks counts as one test. Rules HSE-15 and HSE-20 to HSE-26 in
 * docs/spec/house.md.
 */
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runChecks } from "./check.ts";
import { readOptions, refuseUnmatched, wholeNumber } from "./options.ts";
import { reportPath } from "./report-path.ts";
import { chosenPaths, isMain, ROOT, testFiles } from "./source-files.ts";
import { installPackages } from "./suite/packages.ts";
import { measuredPatience } from "./suite/patience.ts";
import { runSuite, writeJson } from "./suite/run.ts";
import { inRunDirectory } from "./suite/run-directory.ts";
import { lastLine, slowestLines, summaryLines } from "./suite/summary.ts";
import { isGreen, type Verdict } from "./suite/verdict.ts";

const USAGE = `npm test -- [filter …] [--slowest N] [--report FILE]

  filter          only test files whose path contains one of them, without the checks
  --slowest N     also tells where the time went: by folder, and the N slowest files and tests
  --report FILE   where the JSON report goes: a new file or an earlier report;
                  by default node_modules/.cache/test-report.json`;

const REPORT = join(ROOT, "node_modules", ".cache", "test-report.json");

type Options = { readonly filters: readonly string[]; readonly slowest: number; readonly report: string };

async function main(argv: string[]): Promise<void> {
  const options = readOptions(argv, USAGE, () => read(argv));
  if (options === undefined) return;
  const { filters, slowest, report } = options;
  const [checks] = await Promise.all([filters.length > 0 ? [] : runChecks(), installPackages(filters)]);
  const seed = process.env["SIDESTICK_SEED"] ?? String(randomInt(2 ** 31));
  const words = ["npm test", ...(filters.length > 0 ? ["--", ...filters] : [])].join(" ");
  console.log(`seed ${seed} (to repeat: SIDESTICK_SEED=${seed} ${words})`);
  const settings = { ...(await measuredPatience()), SIDESTICK_SEED: seed };
  const { run, left } = await inRunDirectory((directory) =>
    runSuite(
      { root: ROOT, filters: chosenPaths(filters), env: { ...directory.env, ...settings } },
      { expected: testFiles(filters), clear: () => directory.clear() },
    ),
  );
  const verdict = withChecks(run.verdict, checks);
  const lines = [
    ...(slowest > 0 ? slowestLines(run.first, slowest) : []),
    ...summaryLines({ verdict, left, seed }),
    writeJson(report, seed, { ...run, verdict }),
    ...(checks.length > 0 ? [`(${checks.length} of them are steps of npm run check)`] : []),
    lastLine(verdict),
  ];
  for (const line of lines) console.log(line);
  process.exitCode = isGreen(verdict) ? 0 : 1;
}

function read(args: string[]): Options {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { slowest: { type: "string" }, report: { type: "string" } },
  });
  refuseUnmatched(positionals);
  return {
    filters: positionals,
    slowest: values.slowest === undefined ? 0 : wholeNumber("--slowest", values.slowest, 1),
    report: values.report === undefined ? REPORT : reportPath("--report", values.report),
  };
}

function withChecks(verdict: Verdict, checks: readonly { readonly name: string; readonly ok: boolean }[]): Verdict {
  const failed = checks.filter(({ ok }) => !ok);
  return {
    ...verdict,
    passed: verdict.passed + checks.length - failed.length,
    failures: [
      ...failed.map(({ name }) => ({ file: "", title: `npm run check: ${name}`, error: "its output is above" })),
      ...verdict.failures,
    ],
  };
}

if (isMain(import.meta.url)) await main(process.argv.slice(2));
