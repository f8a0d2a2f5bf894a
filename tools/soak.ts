/**
 * The tests with their long versions, to their end, unattended. Each finished file is noted at once, so that a soak that
 * was cut off goes on behind it. The result of a whole soak is written to docs/soak.md. Rule HSE-27 in docs/spec/house.md.
 */
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readOptions, refuseUnmatched } from "./options.ts";
import { isMain, ROOT, testFiles } from "./source-files.ts";
import { commitOf } from "./suite/commit.ts";
import { installPackages } from "./suite/packages.ts";
import { measuredPatience } from "./suite/patience.ts";
import { runSuite } from "./suite/run.ts";
import { inRunDirectory } from "./suite/run-directory.ts";
import {
  beginProgress,
  endSoak,
  lockSoak,
  NO_GIT,
  type Progress,
  readProgress,
  resumeLine,
  type SoakHead,
} from "./suite/soak-progress.ts";
import { lastLine, summaryLines } from "./suite/summary.ts";
import { isGreen } from "./suite/verdict.ts";

const USAGE = `npm run test:soak -- [filter …] [--resume]

  filter     only test files whose path contains one of them; docs/soak.md stays as it is
  --resume   goes on after the last finished file of a whole soak that was interrupted`;

const PROGRESS = join(ROOT, "node_modules", ".cache", "soak.jsonl");
const LOCK = join(ROOT, "node_modules", ".cache", "soak.lock");
const PAGE = join(ROOT, "docs", "soak.md");
/** The longest files take a quarter of an hour on a quiet machine. */
const HANG_MS = 3 * 3_600_000;

async function main(args: string[]): Promise<void> {
  const options = readOptions(args, USAGE, () => read(args));
  if (options === undefined) return;
  const { filters, isResumed } = options;
  if (filters.length > 0) {
    const { verdict } = await soak({ head: newHead(), finished: { files: [], unhandled: [] } }, filters);
    console.log(lastLine(verdict));
    return;
  }
  const release = lockSoak(LOCK);
  if (typeof release === "string") return refuse(release);
  process.on("exit", release);
  const progress = isResumed ? readProgress(PROGRESS, commitOf(ROOT)) : beginProgress(PROGRESS, newHead());
  if (typeof progress === "string") return refuse(progress);
  const tellHowToGoOn = (): void => console.log(resumeLine(PROGRESS, testFiles([]).length));
  process.on("exit", tellHowToGoOn);
  const run = await soak(progress, filters, PROGRESS);
  process.off("exit", tellHowToGoOn);
  const commit = commitOf(ROOT) ?? NO_GIT;
  console.log(endSoak({ page: PAGE, progress: PROGRESS }, { head: progress.head, run, commit, endedAt: new Date() }));
  console.log(lastLine(run.verdict));
}

function refuse(why: string): void {
  console.error(why);
  process.exitCode = 1;
}

function read(args: string[]): { readonly filters: readonly string[]; readonly isResumed: boolean } {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { resume: { type: "boolean", default: false } },
  });
  if (values.resume && positionals.length > 0) throw new Error("--resume is for a whole soak, without filters");
  refuseUnmatched(positionals);
  return { filters: positionals, isResumed: values.resume };
}

function newHead(): SoakHead {
  return {
    commit: commitOf(ROOT) ?? NO_GIT,
    seed: process.env["SIDESTICK_SEED"] ?? String(randomInt(2 ** 31)),
    beganAt: new Date().toISOString(),
  };
}

async function soak({ head: { seed }, finished }: Progress, filters: readonly string[], progress?: string) {
  const chosen = testFiles(filters);
  const done = new Set(finished.files.map(({ file }) => file));
  const files = chosen.filter((path) => !done.has(path)).map((path) => join(ROOT, path));
  console.log(`${files.length} files to run, ${done.size} already done; seed ${seed}`);
  await installPackages(filters);
  const settings = { ...(await measuredPatience()), SIDESTICK_SEED: seed, SIDESTICK_SOAK: "1" };
  const { run, left } = await inRunDirectory((directory) =>
    runSuite(
      {
        root: ROOT,
        filters: files,
        hangMs: HANG_MS,
        env: { ...directory.env, ...settings },
        ...(progress !== undefined && { progress }),
      },
      { expected: chosen, earlier: finished, clear: () => directory.clear() },
    ),
  );
  const { verdict } = run;
  for (const line of summaryLines({ verdict, left, seed })) console.log(line);
  process.exitCode = isGreen(verdict) ? 0 : 1;
  return run;
}

if (isMain(import.meta.url)) await main(process.argv.slice(2));
