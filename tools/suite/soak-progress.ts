/** What a soak has done so far, in a file that outlives it, and the page that tells of its end. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type FileReport, hasFailed } from "./report.ts";
import type { SuiteRun } from "./run.ts";
import { lastLine } from "./summary.ts";

export type SoakHead = { readonly commit: string; readonly seed: string; readonly beganAt: string };
/** `finished`: files that passed. One that failed runs again. */
export type Progress = { readonly head: SoakHead; readonly finished: readonly FileReport[] };

export function beginProgress(path: string, head: SoakHead): Progress {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(head)}\n`);
  return { head, finished: [] };
}

/** Or why it can't go on. A last line that was cut off is a file that didn't finish. */
export function readProgress(path: string, commit: string): Progress | string {
  const lines = linesOf(path);
  const head = lines[0] as SoakHead | undefined;
  if (head === undefined) return "There is no soak to go on with. Begin one: npm run test:soak";
  if (head.commit !== commit) {
    return `That soak was of ${head.commit}, and this is ${commit}. Begin a new one: npm run test:soak`;
  }
  const reports = lines.slice(1) as FileReport[];
  return { head, finished: reports.filter((it) => it.isLoaded && !hasFailed(it)) };
}

function linesOf(path: string): unknown[] {
  try {
    return readFileSync(path, "utf8")
      .split("\n")
      .slice(0, -1)
      .map((line): unknown => JSON.parse(line));
  } catch {
    return [];
  }
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
    `| result | ${lastLine(verdict)}, ${verdict.skipped} skipped, ${verdict.flaky.length} flaky |`,
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
