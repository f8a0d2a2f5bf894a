/** The parts of a screen's end that a question can stand in. */
import type { PromptView } from "./prompt.ts";

export const LINES_MAX = 40;
/** Patterns cost more than linear time in a line's length. */
const LINE_MAX = 240;
const ASKING_MAX = 400;

export type ViewText = {
  /** The line of the cursor up to it, with the lines that it is the rest of. */
  readonly asking: string;
  /** What is said to ask: `asking`, or the line above where that is bare. */
  readonly spoken: string;
  /** Before the asking line, oldest first. */
  readonly above: readonly string[];
  /** After the cursor. */
  readonly below: readonly string[];
  /** The whole, in order. */
  readonly all: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
};

export function viewText(view: PromptView): ViewText {
  const cut = Math.max(0, view.lines.length - LINES_MAX);
  const all = view.lines.slice(cut).map((line) => line.slice(0, LINE_MAX).trimEnd());
  const end = Math.max(0, all.length - 1);
  const row = Math.min(end, Math.max(0, (view.cursor?.row ?? view.lines.length - 1) - cut));
  const column = view.cursor?.column ?? view.lines[row + cut]?.length ?? 0;
  const here = (all[row] ?? "").slice(0, column).padEnd(Math.min(column, LINE_MAX));
  const begin = beginOf(all, row, view.columns);
  const asking = [...all.slice(begin, row), here]
    .join("")
    .slice(-ASKING_MAX)
    .replace(/\s{3,}$/u, "  ");
  const above = all.slice(0, begin);
  const before = above.findLast((line) => line.trim() !== "") ?? "";
  const spoken = asking.trim() === "" || isFieldOf(before, asking) ? before : asking;
  const rest = (all[row] ?? "").slice(column);
  return { asking, spoken, above, below: [rest, ...all.slice(row + 1)], all, cursor: { row, column } };
}

/** ` > ` below a question is where its answer goes. */
function isFieldOf(question: string, asking: string): boolean {
  return /^\s*[>›»]\s*$/u.test(asking) && /[:?：？]\s*$/u.test(question);
}

/** A line that fills the width goes on in the next one. */
function beginOf(lines: readonly string[], row: number, columns: number | undefined): number {
  if (columns === undefined) return row;
  let begin = row;
  while (begin > 0 && (lines[begin - 1] ?? "").trimEnd().length >= columns && row - begin < 4) begin -= 1;
  return begin;
}

/** The last lines with text above, newest last. */
export function textAbove({ above }: ViewText, count: number): string[] {
  return above.filter((line) => line.trim() !== "").slice(-count);
}

/** Borders of boxes and rails of clack are drawing, not text. */
export function withoutFrame(line: string): string {
  return line.replace(/^[\s│┃|]+/u, "").replace(/[\s│┃|]+$/u, "");
}
