/**
 * What a session has printed since a cursor, from the stored bytes: the end of it where it is much, never beginning or ending inside a
 * character or an escape sequence. Who reads by the text of `stdout` events misses what is longer than theirs.
 */
import { wholeCharacters } from "../lib/whole-characters.ts";
import type { OutputDesk } from "./output-desk.ts";
import { CursorExpired } from "./ports.ts";

export type FreshOutput = {
  readonly bytes: Uint8Array;
  /** Up to where it was read: where to go on. */
  readonly to: number;
  /** Bytes before it that weren't read. */
  readonly skipped: number;
};

export type OutputSource = Pick<OutputDesk, "size" | "oldest" | "all">;

type Wanted = { readonly from: number; readonly maxBytes: number; readonly final?: boolean | undefined };

const LF = 0x0a;
const ESC = 0x1b;
/** Longer sequences are no text anyway. */
const ESCAPE_MAX = 256;
const LINE_MAX = 4_096;

export async function freshOutput(
  output: OutputSource,
  sessionId: string,
  { from, maxBytes, final = false }: Wanted,
): Promise<FreshOutput> {
  const size = await output.size(sessionId);
  if (size <= from) return { bytes: new Uint8Array(), to: from, skipped: 0 };
  const begin = Math.max(from, size - maxBytes);
  const all = await readFrom(output, sessionId, { begin, size });
  const lead = all.begin > from ? lineBegin(all.bytes) : 0;
  const end = final ? all.bytes.length : wholeEnd(all.bytes);
  const bytes = all.bytes.subarray(Math.min(lead, end), end);
  return { bytes, to: all.begin + end, skipped: all.begin - from + Math.min(lead, end) };
}

async function readFrom(
  output: OutputSource,
  sessionId: string,
  { begin, size }: { readonly begin: number; readonly size: number },
): Promise<{ readonly begin: number; readonly bytes: Uint8Array }> {
  try {
    return { begin, bytes: await output.all(sessionId, begin, size) };
  } catch (error) {
    if (!(error instanceof CursorExpired)) throw error;
    const oldest = await output.oldest(sessionId);
    return { begin: oldest, bytes: await output.all(sessionId, oldest, size) };
  }
}

/** Behind the first line end, if one is near; else the first whole character. */
function lineBegin(bytes: Uint8Array): number {
  const end = bytes.subarray(0, LINE_MAX).indexOf(LF);
  if (end >= 0) return end + 1;
  const first = bytes.findIndex((byte) => (byte & 0b1100_0000) !== 0b1000_0000);
  return Math.max(0, first);
}

function wholeEnd(bytes: Uint8Array): number {
  const end = wholeCharacters(bytes);
  const escape = bytes.subarray(0, end).lastIndexOf(ESC);
  if (escape < 0 || end - escape > ESCAPE_MAX) return end;
  const sequence = Buffer.from(bytes.subarray(escape, end)).toString("latin1");
  return WHOLE_SEQUENCE.test(sequence) ? end : escape;
}

const WHOLE_SEQUENCE =
  // oxlint-disable-next-line no-control-regex -- those are what is looked for
  /^\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007]*\u0007|[ -/]+[0-~]|[0-OQ-WYZ\\`-~])/;
