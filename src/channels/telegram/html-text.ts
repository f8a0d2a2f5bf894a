/** Plain text as Telegram's HTML, and cut so that what is left is whole: no half entity, no half character. */
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Telegram drops controls and obeys what turns the direction of writing: both would show something else than what is there. */
const UNSHOWN = /(?![\n\t])[\p{Cc}\u{61C}\u{200E}\u{200F}\u{202A}-\u{202E}\u{2066}-\u{2069}]/gu;

export type Side = "head" | "tail";

/** What Telegram would show as it is. */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll("\r\n", "\n")
    .replaceAll(UNSHOWN, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (char) => ENTITIES[char] ?? char);
}

/** Escaped, and at most `room` (a hundred or more) characters long then; what had to go is counted in a note where it was cut. */
export function fittedHtml(text: string, room: number, kept: Side): string {
  const whole = escapeHtml(text);
  if (whole.length <= room) return whole;
  const partRoom = room - leftOut(text.length).length - 1;
  const part = kept === "head" ? firstOf(text, partRoom) : lastOf(text, partRoom);
  const said = leftOut(text.length - plainLength(part));
  return kept === "head" ? `${part}\n${said}` : `${said}\n${part}`;
}

/** For one line: an ellipsis says that there was more. */
export function fittedLine(text: string, room: number): string {
  const line = text.replaceAll(/\s*\n\s*/g, " ⏎ ");
  const whole = escapeHtml(line);
  return whole.length <= room ? whole : `${firstOf(line, room - 1)}…`;
}

/** No more than `most` characters, without markup. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

function leftOut(count: number): string {
  return `[… ${count} characters left out]`;
}

function firstOf(text: string, room: number): string {
  let html = "";
  for (const char of text) {
    const next = ENTITIES[char] ?? char;
    if (html.length + next.length > room) break;
    html += next;
  }
  return html;
}

function lastOf(text: string, room: number): string {
  let html = "";
  for (const char of Array.from(text.slice(-room)).toReversed()) {
    const next = ENTITIES[char] ?? char;
    if (html.length + next.length > room) break;
    html = next + html;
  }
  // The cut above may have gone through the first character.
  return html.replace(/^[\uDC00-\uDFFF]/, "");
}

function plainLength(html: string): number {
  return html.replaceAll(/&\w+;/g, "x").length;
}
