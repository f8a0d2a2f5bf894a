/**
 * Whether a program that waits after a write still waits with the question that is being answered. Before Enter that is
 * so if what was typed stands in its field; after it, if nothing was printed. A question that was printed again was asked
 * again: the answer is no longer its. Where it can't be told, nothing more is typed. Rules PMT-70..PMT-79.
 */

/** What names a question while it stands: its reader and its place. */
export type Standing = {
  readonly pid: number;
  readonly question: string;
  /** The question's line, counted from the session's begin. */
  readonly line: number;
};

export type Seen = Standing & {
  /** What stands above the question: where that has moved, it is asked anew. */
  readonly above: string;
  /** Nothing stands between it and the cursor: the title of a menu is not where the answer is typed. */
  readonly isAtCursor: boolean;
  /** All up to the cursor, and of it the cursor's own line, without white space: a line that is wrapped has lost some. */
  readonly shown: string;
  readonly field: string;
};

/** `again`: it was drawn again without what was typed; `doubt`: it has changed otherwise. */
export type Verdict = "same" | "other" | "again" | "doubt";

/** Typing without Enter makes a new instance of the same question; a next question stands elsewhere or reads otherwise. */
export function sameQuestion(before: Standing, after: Standing, typed = ""): boolean {
  if (before.pid !== after.pid || before.line !== after.line) return false;
  if (before.question === after.question) return true;
  if (!after.question.startsWith(before.question)) return false;
  const rest = after.question.slice(before.question.length).trim();
  return (typed !== "" && rest === typed.trim()) || /^[*•●]+$/u.test(rest);
}

export function isSame(before: Seen, after: Seen, typed = ""): boolean {
  if (before.above !== after.above || before.isAtCursor !== after.isAtCursor) return false;
  return sameQuestion(before, after, typed);
}

/** Somebody at the terminal is typing an answer: it is the same question with a piece of text behind it. */
export function isTypedInto(before: Seen, after: Seen): boolean {
  const { question } = after;
  return question.length > before.question.length && isSame(before, after, question.slice(before.question.length));
}

export type Written = {
  /** All that went in so far, without Enter. */
  readonly typed: string;
  /** What was printed since the last of it. */
  readonly output: string;
  readonly isSecret: boolean;
};

/** Text or keys went in and Enter has not: it may follow only into what holds them. */
export function beforeEnter(before: Seen, after: Seen, { typed, output, isSecret }: Written): Verdict {
  if (before.pid !== after.pid) return "other";
  if (holdsTyped(before, after, typed)) return "same";
  // No arrow key takes a menu further: where it can't be found again, nobody knows what Enter would do.
  if (isKeys(typed)) return isSame(before, after) ? "same" : "doubt";
  if (!isSame(before, after)) return goesOn(before, after) ? "doubt" : "other";
  // Hidden input may be drawn anew with every key, and shows nothing of it.
  if (isSecret || inked(output) === "") return "same";
  return isPrintedAgain(before, output) ? "again" : "doubt";
}

export function afterEnter(before: Seen, after: Seen, { typed, output }: Written): Verdict {
  if (before.pid === after.pid && holdsTyped(before, after, typed)) return "same";
  return isSame(before, after) && !isPrintedAgain(before, output) ? "same" : "other";
}

/** Of what stood above the field: enough to find it again after the screen has scrolled. */
const ANCHOR = 24;
/** A field that is narrower than its text shows the end. */
const END_SHOWN = 12;

/** The field begins as before, or with a part of that where a default was drawn in it, and then holds what was typed. */
function holdsTyped(before: Seen, { shown }: Seen, typed: string): boolean {
  const text = withoutSpaces(typed);
  if (shown === before.shown || isKeys(typed)) return false;
  // The text fills the screen.
  if (shown.length >= END_SHOWN && shown.length <= text.length && isShownAs(text, shown)) return true;
  const above = before.shown.slice(0, before.shown.length - before.field.length).slice(-ANCHOR);
  for (let kept = before.field.length; kept >= 0; kept -= 1) {
    const anchor = above + before.field.slice(0, kept);
    const places = above === "" ? [0] : [shown.length - text.length - anchor.length, shown.lastIndexOf(anchor)];
    const isHere = (at: number): boolean =>
      at >= 0 && shown.startsWith(anchor, at) && isShownAs(text, shown.slice(at + anchor.length));
    if (places.some(isHere)) return true;
  }
  return false;
}

/** As typed, with what redaction masks; a field for secrets shows any number of signs. */
function isShownAs(text: string, shown: string): boolean {
  if (/^[*•●▪]+$/u.test(shown)) return true;
  if (shown.length !== text.length && (shown.length < END_SHOWN || shown.length > text.length)) return false;
  const end = text.slice(-shown.length);
  // By unit, as redaction masks: a star for each.
  for (let at = 0; at < shown.length; at += 1) if (shown[at] !== "*" && shown[at] !== end[at]) return false;
  return true;
}

function isKeys(typed: string): boolean {
  return typed.includes("\u001B") || withoutSpaces(typed) === "";
}

/** The same question with something behind it that isn't what was typed. */
function goesOn(before: Seen, after: Seen): boolean {
  return after.question.startsWith(before.question) && isSame(before, { ...after, question: before.question });
}

function isPrintedAgain({ question }: Standing, output: string): boolean {
  const printed = inked(output);
  return printed !== "" && printed.includes(withoutSpaces(question).slice(-ANCHOR));
}

/** What leaves ink: neither escape sequences nor control characters nor spaces. */
function inked(output: string): string {
  return withoutSpaces(output.replaceAll(ESCAPE, ""));
}

const ESCAPE =
  // oxlint-disable-next-line no-control-regex -- those are what is looked for
  /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[ -/]*[0-~])|[\u0000-\u001F\u007F]/gu;

/** A line that goes on in the next has lost those at its end. */
export function withoutSpaces(text: string): string {
  return text.replaceAll(/\s+/gu, "");
}
