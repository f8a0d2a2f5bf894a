/** Columns that text takes on a terminal, near enough for tables: wide scripts and emoji take two, marks none. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]/u;
const MARK = /\p{M}/u;

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

function columnsOf(char: string): number {
  if (MARK.test(char)) return 0;
  return WIDE.test(char) ? 2 : 1;
}
