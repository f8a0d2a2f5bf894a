/**
 * The tests with their long versions, to their end, unattended. Each finished file is noted at once, so that a soak that
 * was cut off goes on behind it. The result of a whole soak is written to docs/soak.md. Rule HSE-27 in docs/spec/house.md.
 */
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { filesIn, isMain, ROOT } from "./source-files.ts";
import { installPackages } from "./suite/packages.ts";
import { measuredPatience } from "./suite/patience.ts";
import { runSuite } from "./suite/run.ts";
import { inRunDirectory } from "./suite/run-directory.ts";
import { beginProgress, type Progress, readProgress, soakPage } from "./suite/soak-progress.ts";
import { lastLine, skippedLines, summaryLines } from "./suite/summary.ts";
import { isGreen } from "./suite/verdict.ts";

const USAGE = `npm run test:soak -- [filter …] [--resume]

  filter     only test files whose path contains one of them; docs/soak.md stays as it is
  --resume   goes on after the last finished file of a soak that was cut off`;

const PROGRESS = join(ROOT, "node_modules", ".cache", "soak.jsonl");
const PAGE = join(ROOT, "docs", "soak.md");

async function main(args: string[]): Promise<void> {
  const { values, positionals: filters } = parseArgs({
    args,
    allowPositionals: true,
    options: { resume: { type: "boolean", default: false }, help: { type: "boolean", default: false } },
  });
  if (values.help) return console.log(USAGE);
  const progress = values.resume ? readProgress(PROGRESS, commit()) : begin();
  if (typeof progress === "string") {
    console.error(progress);
    process.exitCode = 1;
    return undefined;
  }
  await soak(progress, filters);
  return undefined;
}

function begin(): Progress {
  return beginProgress(PROGRESS, {
    commit: commit(),
    seed: process.env["SIDESTICK_SEED"] ?? String(randomInt(2 ** 31)),
    beganAt: new Date().toISOString(),
  });
}

async function soak({ head, finished }: Progress, filters: readonly string[]): Promise<void> {
  const chosen = filesIn(ROOT, "{src,test,tools}/**/*.test.ts").filter(
    (path) => filters.length === 0 || filters.some((it) => path.includes(it)),
  );
  const done = new Set(finished.map(({ file }) => file));
  const files = chosen.filter((path) => !done.has(path)).map((path) => join(ROOT, path));
  console.log(`soak of ${files.length} files, ${done.size} are done; seed ${head.seed}`);
  await installPackages(filters);
  const settings = { SIDESTICK_SEED: head.seed, SIDESTICK_SOAK: "1" };
  const { run, left } = await inRunDirectory(async (env) =>
    runSuite(
      { root: ROOT, filters: files, progress: PROGRESS, env: { ...env, ...(await measuredPatience()), ...settings } },
      finished,
    ),
  );
  const skipped = skippedLines(run.first);
  for (const line of summaryLines({ verdict: run.verdict, left, seed: head.seed, skipped })) console.log(line);
  if (filters.length === 0) writeFileSync(PAGE, soakPage(head, run, new Date()));
  console.log(lastLine(run.verdict));
  process.exitCode = isGreen(run.verdict) ? 0 : 1;
}

function commit(): string {
  const git = (...words: string[]): string => spawnSync("git", words, { cwd: ROOT, encoding: "utf8" }).stdout.trim();
  return `${git("rev-parse", "--short=10", "HEAD")}${git("status", "--porcelain") === "" ? "" : ", changed"}`;
}

if (isMain(import.meta.url)) await main(process.argv.slice(2));
