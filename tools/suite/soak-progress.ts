/** What a soak has done so far, in a file that outlives it, and the page with its result. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { stateOf } from "./left-processes.ts";
import { linesOf, ranOf } from "./progress.ts";
import type { ProgressLine, RunReport } from "./report.ts";
import type { SuiteRun } from "./run.ts";
import { lastLine } from "./summary.ts";

export type SoakHead = { readonly commit: string; readonly seed: string; readonly beganAt: string };
export type Progress = { readonly head: SoakHead; readonly finished: RunReport };

const BEGIN = "Begin a new one: npm run test:soak";
/** What the page says in place of a commit. */
export const NO_GIT = "no git";

/** One soak at a time: two would write into one file. Returns how to release the lock, or why it can't be had. */
export function lockSoak(path: string): (() => void) | string {
  mkdirSync(dirname(path), { recursive: true });
  // With its start: a number may have been given to another process since.
  const [pid = 0, beganAt] = existsSync(path) ? readFileSync(path, "utf8").split(" ").map(Number) : [];
  const holder = stateOf(pid);
  const isRunning = holder !== undefined && !holder.isDead && holder.beganAt === beganAt;
  if (isRunning) return `A soak runs in this checkout already (process ${pid}).`;
  rmSync(path, { force: true });
  writeFileSync(path, `${process.pid} ${stateOf(process.pid)?.beganAt}`, { flag: "wx" });
  return () => rmSync(path, { force: true });
}

/** What an interrupted soak had done is kept beside it. */
export function beginProgress(path: string, head: SoakHead): Progress {
  mkdirSync(dirname(path), { recursive: true });
  const { length } = ranOf(linesOf(path).slice(1) as ProgressLine[]).files;
  if (length > 0) {
    renameSync(path, `${path}.before`);
    const kept = `${path}.before`;
    console.log(`The soak that was interrupted after ${length} files is kept as ${kept}.`);
    console.log(`To go on with it instead, stop this one, then: mv ${kept} ${path} && npm run test:soak -- --resume`);
  }
  writeFileSync(path, `${JSON.stringify(head)}\n`);
  return { head, finished: { files: [], unhandled: [] } };
}

/** For a soak that ends before its time. */
export function resumeLine(path: string, total: number): string {
  const { length } = ranOf(linesOf(path).slice(1) as ProgressLine[]).files;
  return `${length} of ${total} files are done. To go on: npm run test:soak -- --resume`;
}

/** The progress, or why the soak can't be resumed. A last line that was cut off is a file that didn't finish. */
export function readProgress(path: string, commit: string | undefined): Progress | string {
  const lines = linesOf(path);
  const head = lines[0] as SoakHead | undefined;
  if (head === undefined) return `There is no soak to resume. ${BEGIN}`;
  if (commit === undefined) return `Git doesn't tell whether the files are still those of that soak. ${BEGIN}`;
  if (head.commit !== commit) return `That soak was of ${head.commit}, and this is ${commit}. ${BEGIN}`;
  const { files, unhandled } = ranOf(lines.slice(1) as ProgressLine[]);
  return { head, finished: { files: files.filter(({ isLoaded }) => isLoaded), unhandled } };
}

type Paths = { readonly page: string; readonly progress: string };

type Ended = {
  readonly head: SoakHead;
  readonly run: SuiteRun;
  readonly commit: string;
  readonly endedAt: Date;
};

/** Writes the page of a soak that is whole, after which there is nothing to resume; otherwise it says why not. */
export function endSoak(paths: Paths, { head, run, commit, endedAt }: Ended): string {
  const why =
    notWhole(run) ?? (head.commit === commit ? undefined : `it began with ${head.commit}, and this is ${commit}`);
  if (why !== undefined) return `${paths.page} stays as it is: ${why}`;
  writeFileSync(paths.page, soakPage(head, run, endedAt));
  rmSync(paths.progress, { force: true });
  return `result: ${paths.page}`;
}

function notWhole({ first, notRun }: SuiteRun): string | undefined {
  if (notRun.length > 0) return `files that didn't run: ${notRun.join(", ")}`;
  return first.cutOff === undefined ? undefined : "not every file ran to its end";
}

export function soakPage({ commit, seed, beganAt }: SoakHead, { first, verdict }: SuiteRun, endedAt: Date): string {
  const minutes = Math.round((endedAt.getTime() - Date.parse(beganAt)) / 60_000);
  const slowest = first.files.toSorted((a, b) => b.ms - a.ms).slice(0, 10);
  const named = (title: string, items: SuiteRun["verdict"]["flaky"]): string[] =>
    items.length === 0 ? [] : ["", `${title}:`, "", ...items.map((it) => `- ${it.file}: ${it.title}`)];
  return [
    "# The last whole soak",
    "",
    "`npm run test:soak` runs every test with its long version and writes this page when it is over.",
    "",
    "| what | |",
    "| --- | --- |",
    `| began | ${beganAt} |`,
    `| took | ${minutes} minutes, interruptions included |`,
    `| commit | ${commit} |`,
    `| seed | ${seed} |`,
    `| result | ${lastLine(verdict)}, ${verdict.skipped.length} skipped, ${verdict.flaky.length} flaky |`,
    ...named("Failed", verdict.failures),
    ...named("Flaky", verdict.flaky),
    "",
    "The ten slowest files:",
    "",
    "| seconds | file |",
    "| ---: | --- |",
    ...slowest.map(({ file, ms }) => `| ${Math.round(ms / 1000)} | ${file} |`),
    "",
  ].join("\n");
}
