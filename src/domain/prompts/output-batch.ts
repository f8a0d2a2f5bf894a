/**
 * Output on its way to a chat: collected for two seconds, at most fifteen messages a minute, each with the end of what
 * came and a note of how much was left out. Nothing is lost without being counted. Rules PMT-95..PMT-99.
 */
export const BATCH_MS = 2_000;
export const MESSAGE_CHARACTERS_MAX = 2_000;
export const MESSAGES_PER_MINUTE = 15;
export const MEANINGFUL_MIN = 10;
const MINUTE_MS = 60_000;

export type OutputBatch = {
  /** The end of what came since the last message. */
  readonly text: string;
  /** Characters that came before it and won't be shown. */
  readonly omitted: number;
  /** When the first of it came. */
  readonly since?: number | undefined;
  /** When the last messages went out. */
  readonly sentAt: readonly number[];
};

export type OutputMessage = { readonly text: string; readonly omitted: number };

export const EMPTY_BATCH: OutputBatch = { text: "", omitted: 0, sentAt: [] };

export function collect(batch: OutputBatch, output: string, at: number): OutputBatch {
  if (output === "") return batch;
  const whole = batch.text + output;
  const text = tailOf(whole, MESSAGE_CHARACTERS_MAX);
  return { ...batch, text, omitted: batch.omitted + whole.length - text.length, since: batch.since ?? at };
}

export type Flushing = {
  /** Nothing follows: it doesn't wait for its time or for more. */
  readonly final?: boolean;
  readonly batchMs?: number;
};

/** The message that is due, if one is. */
export function flush(
  batch: OutputBatch,
  at: number,
  { final = false, batchMs = BATCH_MS }: Flushing = {},
): { readonly batch: OutputBatch; readonly message?: OutputMessage } {
  const sentAt = batch.sentAt.filter((it) => at - it < MINUTE_MS);
  const kept = { ...batch, sentAt };
  const meaningful = meaningfulIn(batch);
  const due = batch.since !== undefined && at - batch.since >= batchMs && meaningful >= MEANINGFUL_MIN;
  if (meaningful === 0 || !(due || final) || sentAt.length >= MESSAGES_PER_MINUTE) return { batch: kept };
  return { batch: { text: "", omitted: 0, sentAt: [...sentAt, at] }, message: messageOf(batch) };
}

/** Enough for a message, whenever one may go out. */
export function isEnough(batch: OutputBatch): boolean {
  return meaningfulIn(batch) >= MEANINGFUL_MIN;
}

/** Whoever waits for a message of it waits for ever. */
export function isInvisible(batch: OutputBatch): boolean {
  return meaningfulIn(batch) === 0;
}

function meaningfulIn({ text }: OutputBatch): number {
  return text.replaceAll(/[\s\p{C}]/gu, "").length;
}

function messageOf({ text, omitted }: OutputBatch): OutputMessage {
  if (omitted === 0) return { text, omitted };
  // The note takes room too, so the count is made for what really fits.
  const room = MESSAGE_CHARACTERS_MAX - note(omitted + MESSAGE_CHARACTERS_MAX).length;
  const shown = tailOf(text, room);
  const left = omitted + text.length - shown.length;
  return { text: note(left) + shown, omitted: left };
}

function note(count: number): string {
  return `… ${count} characters left out …\n`;
}

/** Never begins in the middle of a character. */
function tailOf(text: string, length: number): string {
  if (text.length <= length) return text;
  const tail = text.slice(-length);
  return /^[\uDC00-\uDFFF]/u.test(tail) || (tail.charCodeAt(0) & 0xfc00) === 0xdc00 ? tail.slice(1) : tail;
}
