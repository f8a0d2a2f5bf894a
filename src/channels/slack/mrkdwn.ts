/**
 * Text on its way into Slack and out of it. Three characters have a meaning of their own there and are written as entities, so no
 * text of a program can mention people, link, or ping a channel. Rules CHN-70..CHN-73, CHN-81 and CHN-91 in docs/spec/channels.md.
 */
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const CHARACTERS: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };
/** Has no width and stands between backticks: what is shown can't end the block that it stands in. */
const APART = "\u200B";

/** Controls are dropped by Slack, and what turns the direction of writing is obeyed: both would show something else than is there. */
const UNSHOWN = /(?![\n\t])[\p{Cc}\u{61C}\u{200E}\u{200F}\u{202A}-\u{202E}\u{2066}-\u{2069}]/gu;

/** Character by character as it is written; joined, it is the text. */
export type Written = readonly string[];

export function writePlain(text: string): Written {
  const lines = text.toWellFormed().replaceAll("\r\n", "\n");
  return Array.from(lines.replaceAll(UNSHOWN, (it) => `\\u{${(it.codePointAt(0) ?? 0).toString(16)}}`));
}

export function writeMrkdwn(text: string): Written {
  return writePlain(text).map((it) => ENTITIES[it] ?? it);
}

export function writeCode(text: string): Written {
  return writeMrkdwn(text).map((it, index, all) => (it === "`" && all[index - 1] === "`" ? APART + it : it));
}

/** How many pieces there may be of the beginning and of the end, each of at most `length` as JSON. */
export type Room = { readonly length: number; readonly begin: number; readonly end: number };

export type Cut = { readonly begin: readonly string[]; readonly omitted: number; readonly end: readonly string[] };

/** Cuts between characters, at the end of a line if one is near. What fits into all pieces is all in `begin`. */
export function cutInto(written: Written, { length, begin, end }: Room): Cut {
  const whole = filled(written, length, begin + end);
  if (whole.left.length === 0) return { begin: whole.pieces.map(asShown).filter(isSeen), omitted: 0, end: [] };
  const first = filled(written, length, begin);
  const last = filled(first.left.toReversed(), length, end);
  return {
    begin: first.pieces.map(asShown).filter(isSeen),
    omitted: last.left.length,
    end: last.pieces
      .map((it) => asShown(it.toReversed()))
      .toReversed()
      .filter(isSeen),
  };
}

function filled(
  written: Written,
  length: number,
  most: number,
): { readonly pieces: Written[]; readonly left: Written } {
  const pieces: Written[] = [];
  let from = 0;
  while (from < written.length && pieces.length < most) {
    const to = endOfPiece(written, from, length);
    pieces.push(written.slice(from, to));
    from = to;
  }
  return { pieces, left: written.slice(from) };
}

const QUOTES = 2;

function endOfPiece(written: Written, from: number, length: number): number {
  let left = length;
  let lineEnd = from;
  for (let at = from; at < written.length; at += 1) {
    left -= JSON.stringify(written[at]).length - QUOTES;
    if (left < 0) return lineEnd - from > (at - from) / 2 ? lineEnd : at;
    if (written[at] === "\n") lineEnd = at + 1;
  }
  return written.length;
}

function asShown(piece: Written): string {
  return piece.join("").replaceAll(/^\n|\n$/gu, "");
}

function isSeen(piece: string): boolean {
  return piece.trim() !== "";
}

export function cutToOne(written: Written, length: number): string {
  const whole = written.join("");
  if (whole.length <= length) return whole;
  let used = 0;
  const fits = written.filter((it) => (used += it.length) < length);
  return `${fits.join("")}…`;
}

/** What a person typed, from how Slack tells it. Links and mentions become what was seen. */
export function readMrkdwn(text: string): string {
  return text
    .replaceAll(/<([^<>|]*)(?:\|([^<>]*))?>/gu, seen)
    .replaceAll(/&(?:amp|lt|gt);/gu, (it) => CHARACTERS[it] ?? it);
}

function seen(_whole: string, target: string, label: string | undefined): string {
  const sigil = /^[@#!]/u.exec(target)?.[0];
  if (sigil === undefined) return label !== undefined && target.endsWith(label) ? label : target;
  const sign = sigil === "#" ? "#" : "@";
  const name = label ?? target.slice(1);
  return name.startsWith(sign) ? name : sign + name;
}
