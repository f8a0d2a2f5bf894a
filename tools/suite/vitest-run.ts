/** One run of vitest over a tree, as a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../source-files.ts";
import { hasFailed, type RunReport } from "./report.ts";

export type VitestRun = {
  readonly root: string;
  /** Paths, or parts of them; all files if there is none. */
  readonly filters: readonly string[];
  /** One worker, and a process of its own for each file. */
  readonly isAlone?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly output?: "inherit" | "ignore";
  /** A file that gets a line of JSON for each test file when that is over. */
  readonly progress?: string;
  /** How long vitest may take to end after its last test. */
  readonly endWithinMs?: number;
  /** How long no test file may end before the run is given up: a test can hang where vitest can't interrupt it. */
  readonly hangMs?: number;
};

const VITEST = join(ROOT, "node_modules", "vitest", "vitest.mjs");
const REPORTER = join(import.meta.dirname, "reporter.ts");
const END_WITHIN_MS = 30_000;
const HANG_MS = 15 * 60_000;
const LOOK_EVERY_MS = 250;
/** Vitest had reported everything, and was killed because it didn't exit. */
const LATE = "vitest didn't exit after its report";
const ALONE = ["--maxWorkers=1", "--no-file-parallelism", "--isolate"];

/** The report has an unhandled error if vitest itself broke down, or exited with a failure and reported none. */
export async function runVitest(run: VitestRun): Promise<RunReport> {
  const { root, filters, isAlone, env, output = "inherit" } = run;
  const directory = mkdtempSync(join(env?.["TMPDIR"] ?? tmpdir(), "sidestick-run-"));
  const path = join(directory, "report.json");
  const progress = run.progress ?? join(directory, "progress.jsonl");
  try {
    const options = ["run", "--reporter=default", `--reporter=${REPORTER}`, ...(isAlone === true ? ALONE : [])];
    const child = spawn(process.execPath, [VITEST, ...options, ...filters], {
      cwd: root,
      env: { ...process.env, ...env, SIDESTICK_RUN_REPORT: path, SIDESTICK_RUN_PROGRESS: progress },
      stdio: ["ignore", output, output],
    });
    const watch = killWhenStuck(child, { ...run, report: path, progress });
    const ended = await new Promise<string>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) => resolve(signal ?? String(code)));
    }).finally(watch.stop);
    return withEnd(readReport(path), watch.reason() ?? `vitest ended with ${ended}`, filters);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

type Watched = Pick<VitestRun, "endWithinMs" | "hangMs"> & { readonly report: string; readonly progress: string };

/**
 * Vitest doesn't exit while any process holds its workers' output, so a process that a test left would block it. After
 * the report is written nothing more is needed. Before that, vitest waits for ever for a test that never yields.
 */
function killWhenStuck(child: ChildProcess, watched: Watched) {
  const { endWithinMs = END_WITHIN_MS, hangMs = HANG_MS, report, progress } = watched;
  let since = performance.now();
  let seen = -1;
  let reason: string | undefined;
  const look = setInterval(() => {
    const isReported = existsSync(report);
    // The report counts as progress too.
    const size = isReported ? Infinity : sizeOf(progress);
    if (size !== seen) since = performance.now();
    seen = size;
    if (performance.now() - since <= (isReported ? endWithinMs : hangMs)) return;
    reason = isReported ? LATE : `no test file ended for ${hangMs / 60_000} minutes`;
    child.kill("SIGKILL");
  }, LOOK_EVERY_MS);
  return { stop: () => clearInterval(look), reason: () => reason };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function readReport(path: string): RunReport | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as RunReport;
  } catch {
    return undefined;
  }
}

function withEnd(report: RunReport | undefined, ended: string, filters: readonly string[]): RunReport {
  if (report === undefined) return { files: [], unhandled: [`${ended}, and vitest left no report`] };
  const hasFailure = report.unhandled.length > 0 || report.files.some(hasFailed);
  if (ended === LATE || ended === "vitest ended with 0" || (ended === "vitest ended with 1" && hasFailure))
    return report;
  const error = report.files.length === 0 ? `no test file matches ${filters.join(", ")}` : `${ended} after its report`;
  return { ...report, unhandled: [...report.unhandled, error] };
}
