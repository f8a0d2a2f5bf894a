/** The file to which the reporter adds a line whenever a test file begins or ends: what is in it, a killed run keeps. */
import { readFileSync, statSync } from "node:fs";
import type { FileReport, ProgressLine } from "./report.ts";

export type Ran = {
  readonly files: readonly FileReport[];
  readonly unhandled: readonly string[];
  /** Files that began and didn't end. */
  readonly unfinished: readonly string[];
  /** Whether the last file ended, and vitest with it. */
  readonly isOver: boolean;
};

export function ranOf(lines: readonly ProgressLine[]): Ran {
  const all = lines.flatMap((it) => ("ended" in it ? [it.ended] : []));
  const files = [...Map.groupBy(all, ({ file }) => file).values()].map(onlyOne);
  const ended = new Set(files.map(({ file }) => file));
  const started = lines.flatMap((it) => ("started" in it ? [it.started] : []));
  return {
    files: files.toSorted((a, b) => (a.file < b.file ? -1 : 1)),
    unhandled: lines.flatMap((it) => ("unhandled" in it ? it.unhandled : [])),
    unfinished: [...new Set(started)].filter((file) => !ended.has(file)),
    isOver: lines.some((it) => "over" in it),
  };
}

/** A file has one end. With two, a run was disturbed by another: its results can't be trusted. */
function onlyOne([report, ...others]: readonly FileReport[]): FileReport {
  const errors =
    others.length === 0 ? [] : ["it ran twice in one run, in two projects of vitest or beside another run"];
  return { ...report!, isLoaded: report!.isLoaded && errors.length === 0, errors: [...report!.errors, ...errors] };
}

/** From that byte on. Without a line that was cut off, also when the next run wrote on behind it. */
export function linesOf(path: string, from = 0): unknown[] {
  if (sizeOf(path) <= from) return [];
  return readFileSync(path).subarray(from).toString().split("\n").flatMap(parsed);
}

function parsed(line: string): unknown[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}

/** 0 for a file that isn't there. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
