/** What is pasted into a shell runs at its first line end: whoever pastes sees it first, unless it is one plain line. Rule WEB-34. */

/** Line ends, and whatever a terminal or program would obey rather than show. Tabs are harmless but complete words: shown too. */
const TELLING = /[\p{Cc}\p{Cf}\u2028\u2029]/u;
/** All but line ends and tabs. */
const CONTROLS = /(?![\n\r\t])[\p{Cc}\p{Cf}]/gu;
/** The end of a bracketed paste, from inside it: what follows would count as typed. */
// oxlint-disable-next-line no-control-regex -- it is what is looked for
const ENDS_PASTE = /(?:\u001B\[|\u009B)20[01]~/gu;

export function needsLook(text: string): boolean {
  return TELLING.test(text);
}

export function hasControls(text: string): boolean {
  return text.replaceAll(CONTROLS, "") !== text;
}

export function withoutControls(text: string): string {
  return text.replaceAll(CONTROLS, "");
}

/** Again until none is left: taking one out may make another. */
export function pasteable(text: string): string {
  const next = text.replaceAll(ENDS_PASTE, "");
  return next === text ? text : pasteable(next);
}
