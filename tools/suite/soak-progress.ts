/** What a soak has done so far, in a file that outlives it, and the page with its result. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { ProgressLine, RunReport } from "./report.ts";
import type { SuiteRun } from "./run.ts";
import { lastLine } from "./summary.ts";

export type SoakHead = { readonly commit: string; readonly seed: string; readonly beganAt: string };
export type Progress = { readonly head: SoakHead; readonly finished: RunReport };

export function beginProgress(path: string, head: SoakHead): Progress {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(head)}\n`);
  return { head, finished: { files: [], unhandled: [] } };
}

/** The progress, or why the soak can't be resumed. A last line that was cut off is a file that didn't finish. */
export function readProgress(path: string, commit: string): Progress | string {
  const lines = linesOf(path);
  const head = lines[0] as SoakHead | undefined;
  if (head === undefined) return "There is no soak to resume. Begin one: npm run test:soak";
  if (head.commit !== commit) {
    return `That soak was of ${head.commit}, and this is ${commit}. Begin a new one: npm run test:soak`;
  }
  const done = lines.slice(1) as ProgressLine[];
  const files = done.map(({ file }) => file).filter(({ isLoaded }) => isLoaded);
  return { head, finished: { files, unhandled: done.flatMap(({ unhandled }) => unhandled) } };
}

function linesOf(path: string): unknown[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8").split("\n").flatMap(parsed);
}

/** Nothing for a line that was cut off, also when the next soak wrote on behind it. */
function parsed(line: string): unknown[] {
  try {
    return [JSON.parse(line)];
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
