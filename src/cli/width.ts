/** Text in the columns of a terminal, for tables. */
import { columnsOf } from "../domain/columns.ts";

export function widthOf(text: string): number {
  let width = 0;
  for (const char of text) width += columnsOf(char);
  return width;
}

/** At most `width` columns; what is cut off is replaced by an ellipsis. */
export function fit(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = "";
  let room = width - 1;
  for (const char of text) {
    room -= columnsOf(char);
    if (room < 0) break;
    kept += char;
  }
  return width < 1 ? "" : `${kept}…`;
}

export function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}
