/**
 * Escape sequences as they come, byte by byte. Those that only colour or change a mode lie inside of a text without
 * cutting it; all others, cursor movement above all, do cut it.
 */
import { byteClass, belongs, ESC } from "./byte-class.ts";

/** `inside`: not over yet. `through`: over, text goes on. `cut`: over, text is cut. `text`: this byte is text again. */
export type EscapeStep = "inside" | "through" | "cut" | "text";

const CSI = 0x5b;
/** SGR, erase in line, set and reset modes, insert and delete characters. */
const HARMLESS_FINALS = byteClass("mKhlP@");
/** What a run that does not cut a text can end with; `0` and `B` name character sets. */
export const ESCAPE_ENDS = byteClass("mKhlP@0B");
const CHARSET = byteClass("()*+");
const SEQUENCE_LIMIT = 64;

/** The index behind a CSI sequence that begins at `from` and ends before `to`; -1 if none does. */
export function csiEnd(bytes: Uint8Array, from: number, to: number): number {
  if (bytes[from + 1] !== CSI) return -1;
  const end = Math.min(to, from + SEQUENCE_LIMIT);
  for (let index = from + 2; index < end; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte < 0x20 || byte > 0x7e) return -1;
    if (byte >= 0x40) return index + 1;
  }
  return -1;
}

export class EscapeReader {
  #state: "none" | "escape" | "csi" | "charset" = "none";
  #length = 0;
  /** The last run of sequences without text between, [from, to). */
  #from = -1;
  #to = -1;
  #cut = false;

  get open(): boolean {
    return this.#state !== "none";
  }

  begin(at: number): void {
    if (at !== this.#to) {
      this.#from = at;
      this.#cut = false;
    }
    this.#state = "escape";
    this.#length = 0;
  }

  /** A whole CSI sequence [from, to) that was passed over at once. */
  passed(from: number, to: number, final: number): void {
    this.begin(from);
    this.#end(to - 1, belongs(HARMLESS_FINALS, final) ? "through" : "cut");
  }

  /** Whether a run of sequences ends just before `at`. */
  endsAt(at: number): boolean {
    return at === this.#to;
  }

  /** The offset of the text before `at`; nowhere if it was cut there. */
  before(at: number): number {
    if (at !== this.#to) return at - 1;
    return this.#cut ? Number.NEGATIVE_INFINITY : this.#from - 1;
  }

  take(byte: number, at: number): EscapeStep {
    this.#length += 1;
    if (byte === ESC) {
      this.#state = "escape";
      return "inside";
    }
    if (byte < 0x20 || byte > 0x7e || this.#length > SEQUENCE_LIMIT) return this.#abort();
    switch (this.#state) {
      case "escape":
        if (byte === CSI) return this.#enter("csi");
        if (belongs(CHARSET, byte)) return this.#enter("charset");
        return this.#end(at, "cut");
      case "csi":
        return byte >= 0x40 ? this.#end(at, belongs(HARMLESS_FINALS, byte) ? "through" : "cut") : "inside";
      case "charset":
        return this.#end(at, "through");
      case "none":
        return "text";
    }
  }

  #enter(state: "csi" | "charset"): EscapeStep {
    this.#state = state;
    return "inside";
  }

  #end(at: number, step: "through" | "cut"): EscapeStep {
    this.#state = "none";
    this.#cut ||= step === "cut";
    this.#to = at + 1;
    return step;
  }

  #abort(): EscapeStep {
    this.#state = "none";
    return "text";
  }
}
