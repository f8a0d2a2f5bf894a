/** From the screen of a terminal to what the classifier looks at, and to the place at which a question stands. */
import { lengthBefore } from "../domain/columns.ts";
import type { PromptView } from "../domain/prompts/prompt.ts";
import { type Seen, withoutSpaces } from "../domain/prompts/standing.ts";
import type { ScreenText } from "./terminal-driver.ts";

export function viewOf({ lines, cursorRow, cursorCol, size }: ScreenText): PromptView {
  const column = lengthBefore(lines[cursorRow] ?? "", cursorCol);
  const last = Math.max(
    cursorRow,
    lines.findLastIndex((line) => line !== ""),
  );
  // Spaces before the cursor are the question's.
  const shown = lines.slice(0, last + 1).map((line, row) => (row === cursorRow ? line.padEnd(column) : line));
  return { lines: shown, cursor: { row: cursorRow, column }, columns: size.cols };
}

export function seenOn({ lines, cursor }: PromptView, question: string, pid: number): Seen {
  const begin = question.slice(0, BEGIN);
  const line = begin === "" ? -1 : lines.findLastIndex((it) => it.includes(begin));
  const first = Math.max(0, line);
  const row = cursor?.row ?? lines.length - 1;
  const field = withoutSpaces((lines[row] ?? "").slice(0, cursor?.column));
  const asked = withoutSpaces(lines.slice(first, row + 1).join(""));
  return {
    pid,
    question,
    line,
    above: lines.slice(0, first).join("\n"),
    isAtCursor: asked.endsWith(withoutSpaces(question.slice(-BEGIN))),
    shown: withoutSpaces(lines.slice(0, row).join("")) + field,
    field,
  };
}

/** Long enough to tell questions apart; a longer one may go on in the next line. */
const BEGIN = 24;
