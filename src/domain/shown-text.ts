/**
 * Text from elsewhere as a person may read it before deciding: whatever would hide, reorder or rewrite something is shown
 * as a sign that does nothing. Line ends and tabs stay.
 */
export function shownText(text: string): string {
  return text.replaceAll(UNSEEN, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Controls, formats (bidirectional ones too), separators, blanks that aren't a space, fillers and variation selectors. */
const UNSEEN =
  /(?![\n\t ])(?:[\p{C}\p{Z}\u{115F}\u{1160}\u{2800}\u{3164}\u{FFA0}]|\p{Variation_Selector}|\u{17B4}|\u{17B5}|\u{34F})/gu;
