/** One run of vitest over a tree, as a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../source-files.ts";
import { linesOf, ranOf, sizeOf } from "./progress.ts";
import { hasFailed, type ProgressLine, type RunReport } from "./report.ts";

export type VitestRun = {
  readonly root: string;
  /** Paths, or parts of them; all files if there is none. */
  readonly filters: readonly string[];
  /** One worker, and a process of its own for each file. */
  readonly isAlone?: boolean;
  /** Ends with the first test that fails. */
  readonly isBailing?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly output?: "inherit" | "ignore";
  /** A file that gets a line of JSON whenever a test file begins or ends. What is in it already stays. */
  readonly progress?: string;
  /** How long vitest may take to end after its last test. */
  readonly endWithinMs?: number;
  /** How long no test file may begin or end before the run is given up: a test can hang where vitest can't interrupt it. */
  readonly hangMs?: number;
};

const VITEST = join(ROOT, "node_modules", "vitest", "vitest.mjs");
const REPORTER = join(import.meta.dirname, "reporter.ts");
const END_WITHIN_MS = 30_000;
const HANG_MS = 15 * 60_000;
const LOOK_EVERY_MS = 250;
const ALONE = ["--maxWorkers=1", "--no-file-parallelism", "--isolate"];

/**
 * The report has an unhandled error if vitest itself broke down, was stuck, or exited with a failure and reported none.
 * What had ended until then is in it.
 */
export async function runVitest(run: VitestRun): Promise<RunReport> {
  const { root, filters, isAlone = false, isBailing = false, env, output = "inherit" } = run;
  const directory = mkdtempSync(join(env?.["TMPDIR"] ?? tmpdir(), "sidestick-run-"));
  const path = run.progress ?? join(directory, "progress.jsonl");
  const from = sizeOf(path);
  try {
    const options = ["run", "--reporter=default", `--reporter=${REPORTER}`];
    const more = [...(isAlone ? ALONE : []), ...(isBailing ? ["--bail=1"] : [])];
    const child = spawn(process.execPath, [VITEST, ...options, ...more, ...filters], {
      cwd: root,
      env: { ...process.env, ...plainUnlessTerminal(), ...env, SIDESTICK_RUN_PROGRESS: path },
      stdio: ["ignore", output, output],
    });
    const watch = killWhenStuck(child, run, { path, from });
    const end = await new Promise<string>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) => resolve(`vitest ended with ${signal ?? String(code)}`));
    }).finally(watch.stop);
    return reportOf(linesOf(path, from) as ProgressLine[], { end, killed: watch.reason() }, filters);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Vitest colours what it prints wherever that goes. */
function plainUnlessTerminal(): Readonly<Record<string, string>> {
  return process.stdout.isTTY || process.env["FORCE_COLOR"] !== undefined ? {} : { NO_COLOR: "1" };
}

/**
 * Vitest doesn't exit while any process holds its workers' output, so a process that a test left would block it. After
 * its last line nothing more is needed. Before that, vitest waits for ever for a test that never yields.
 */
function killWhenStuck(
  child: ChildProcess,
  run: VitestRun,
  progress: { readonly path: string; readonly from: number },
) {
  const { endWithinMs = END_WITHIN_MS, hangMs = HANG_MS } = run;
  // By looks, not by a clock: a run that was stopped for a while, or a machine that was, hangs no test.
  let looks = 0;
  let seen = progress.from;
  let isOver = false;
  let reason: string | undefined;
  const look = setInterval(() => {
    const size = sizeOf(progress.path);
    if (size !== seen) {
      looks = 0;
      isOver ||= ranOf(linesOf(progress.path, seen) as ProgressLine[]).isOver;
      seen = size;
    }
    looks += 1;
    if (looks * LOOK_EVERY_MS <= (isOver ? endWithinMs : hangMs)) return;
    reason = `no test file began or ended for ${hangMs / 60_000} minutes`;
    child.kill("SIGKILL");
  }, LOOK_EVERY_MS);
  return { stop: () => clearInterval(look), reason: () => reason };
}

type End = {
  /** The exit code or the signal. */
  readonly end: string;
  /** Why the runner killed it. */
  readonly killed: string | undefined;
};

function reportOf(lines: readonly ProgressLine[], { end, killed }: End, filters: readonly string[]): RunReport {
  const { files, unhandled, unfinished, isOver } = ranOf(lines);
  if (!isOver) {
    const cutOff = unfinished.map((file) => ({ file, ms: 0, isLoaded: false, errors: ["it didn't end"], tests: [] }));
    return {
      files: [...files, ...cutOff],
      unhandled: [...unhandled, killed ?? `${end} before all tests had run`],
      cutOff: killed === undefined ? "broken" : "timed out",
    };
  }
  const hasFailure = unhandled.length > 0 || files.some(hasFailed);
  const isExpected =
    killed !== undefined || end === "vitest ended with 0" || (end === "vitest ended with 1" && hasFailure);
  if (isExpected) return { files, unhandled };
  const error = files.length === 0 ? `no test file matches ${filters.join(", ")}` : `${end} after its last test`;
  return { files, unhandled: [...unhandled, error], cutOff: "broken" };
}
