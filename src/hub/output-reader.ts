/** Output for an answer: a range of the stored bytes as text for reading or as they are, with what was masked in it. */
import { displayText } from "../domain/display-text.ts";
import type { OutputDesk } from "./output-desk.ts";
import type { Redactions } from "./redactions.ts";

export type Range = { readonly from: number; readonly to: number };

export type ReadOutput = {
  readonly data: string;
  readonly from_cursor: number;
  /** Where to go on. */
  readonly cursor: number;
  readonly end_cursor: number;
  readonly omitted_bytes: number;
  readonly redacted: [number, number][];
};

/** Making text of output takes about 0.1 s a megabyte, during which the hub does nothing else. */
const TEXT_MAX = 256 * 1024;
const LOOKED_MAX = 512 * 1024;
const LINE_MAX = 1024;

export class OutputReader {
  readonly #output: OutputDesk;
  readonly #redactions: Redactions;

  constructor(output: OutputDesk, redactions: Redactions) {
    this.#output = output;
    this.#redactions = redactions;
  }

  size(sessionId: string): Promise<number> {
    return this.#output.size(sessionId);
  }

  /** The end of what is known now. */
  async here(sessionId: string): Promise<{ readonly cursor: number; readonly position: number }> {
    const reach = this.#output.settled(sessionId);
    return reach === undefined
      ? { cursor: await this.#output.size(sessionId), position: 0 }
      : { cursor: reach.cursor, position: reach.order };
  }

  /** The last line before a cursor that isn't empty, for reading. */
  async lastLine(sessionId: string, cursor: number): Promise<string> {
    const bytes = await this.#output.all(sessionId, Math.max(0, cursor - LINE_MAX), cursor);
    const { text } = displayText(bytes, { headBytes: 0, tailBytes: LINE_MAX });
    return text.trimEnd().split("\n").at(-1) ?? "";
  }

  /** Raw: the first `maxBytes`. Text: all of the range, its middle left out when it is longer. */
  async read(
    sessionId: string,
    { from, to }: Range,
    { view, maxBytes }: { readonly view: "text" | "raw"; readonly maxBytes: number },
  ): Promise<ReadOutput> {
    const end_cursor = await this.#output.size(sessionId);
    const until = Math.max(from, to);
    if (view === "raw") {
      const cursor = Math.min(until, from + maxBytes);
      const bytes = await this.#output.all(sessionId, from, cursor);
      const redacted = await this.#redactions.within(sessionId, from, cursor);
      const data = Buffer.from(bytes).toString("base64");
      return { data, from_cursor: from, cursor: from + bytes.length, end_cursor, omitted_bytes: 0, redacted };
    }
    const { text, omitted } = await this.#text(sessionId, { from, to: until }, maxBytes);
    const redacted = await this.#redactions.within(sessionId, from, until);
    return { data: text, from_cursor: from, cursor: until, end_cursor, omitted_bytes: omitted, redacted };
  }

  async #text(sessionId: string, { from, to }: Range, asked: number): Promise<{ text: string; omitted: number }> {
    const maxBytes = Math.min(asked, TEXT_MAX);
    const half = Math.floor(maxBytes / 2);
    const budget = { headBytes: maxBytes - half, tailBytes: half };
    // Escapes and overwritten progress take room that the reader never sees: look at more than is shown.
    const looked = Math.min(4 * maxBytes, LOOKED_MAX);
    if (to - from <= 2 * looked) return displayText(await this.#output.all(sessionId, from, to), budget);
    const head = displayText(await this.#output.all(sessionId, from, from + looked), {
      headBytes: budget.headBytes,
      tailBytes: 0,
    });
    const tail = displayText(await this.#output.all(sessionId, to - looked, to), {
      headBytes: 0,
      tailBytes: budget.tailBytes,
    });
    const omitted = to - from - 2 * looked + head.omitted + tail.omitted;
    return { text: `${head.text}\n… ${omitted} bytes left out …\n${tail.text}`, omitted };
  }
}
