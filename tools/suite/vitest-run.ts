/** One run of vitest over a tree, as a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
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
};

const VITEST = join(ROOT, "node_modules", "vitest", "vitest.mjs");
const REPORTER = join(import.meta.dirname, "reporter.ts");
const END_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 250;
const ALONE = ["--maxWorkers=1", "--no-file-parallelism", "--isolate"];

/** The report has an unhandled error when vitest itself broke down, or failed and doesn't say of what. */
export async function runVitest(run: VitestRun): Promise<RunReport> {
  const { root, filters, isAlone, env, output = "inherit", progress = "", endWithinMs = END_WITHIN_MS } = run;
  const directory = mkdtempSync(join(env?.["TMPDIR"] ?? tmpdir(), "sidestick-run-"));
  const path = join(directory, "report.json");
  try {
    const options = ["run", "--reporter=default", `--reporter=${REPORTER}`, ...(isAlone === true ? ALONE : [])];
    const child = spawn(process.execPath, [VITEST, ...options, ...filters], {
      cwd: root,
      env: { ...process.env, ...env, SIDESTICK_RUN_REPORT: path, SIDESTICK_RUN_PROGRESS: progress },
      stdio: ["ignore", output, output],
    });
    const watch = endAfterReport(child, path, endWithinMs);
    const ended = await new Promise<string>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) => resolve(signal ?? String(code)));
    }).finally(watch.stop);
    return watch.isLate() ? readReport(path)! : withEnd(readReport(path), ended);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Vitest waits until nobody holds the output of its workers, so a process that a test left keeps it from ending. Once
 * the report is written, all is told: a vitest that is still there after a while is ended.
 */
function endAfterReport(child: ChildProcess, path: string, withinMs: number) {
  let isLate = false;
  const end = (): void => {
    isLate = true;
    child.kill("SIGKILL");
  };
  let late: NodeJS.Timeout | undefined;
  const look = setInterval(() => {
    if (late === undefined && existsSync(path)) late = setTimeout(end, withinMs);
  }, LOOK_EVERY_MS);
  const stop = (): void => {
    clearInterval(look);
    clearTimeout(late);
  };
  return { stop, isLate: () => isLate };
}

function readReport(path: string): RunReport | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as RunReport;
  } catch {
    return undefined;
  }
}

function withEnd(report: RunReport | undefined, ended: string): RunReport {
  if (report === undefined) return { files: [], unhandled: [`vitest ended with ${ended} and left no report`] };
  const said = report.unhandled.length > 0 || report.files.some(hasFailed);
  if (ended === "0" || said) return report;
  return { ...report, unhandled: [`vitest ended with ${ended} though no test failed`] };
}
