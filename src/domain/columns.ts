/** Columns that text takes on a terminal: wide scripts and emoji take two, marks and joiners none. */
const WIDE =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Emoji_Presentation}\u3000-\u303F\uFF01-\uFF60\uFFE0-\uFFE6]/u;
/** A soft hyphen is drawn. */
const NARROW = /[[\p{M}\p{Cf}]--\u00AD]/v;

export function columnsOf(character: string): number {
  if (NARROW.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** How long the text before a column is; behind its end there are spaces. */
export function lengthBefore(line: string, columns: number): number {
  let left = columns;
  let length = 0;
  for (const character of line) {
    left -= columnsOf(character);
    // What takes no column belongs to what stands before it.
    if (left < 0) return length;
    length += character.length;
  }
  return length + left;
}
