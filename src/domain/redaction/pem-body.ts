/**
 * The lines between the BEGIN and END of a private key. Base64 is masked line by line; white space, quotes, line
 * numbers and `\n` as text pass. What does not read like the inside of a key ends it, so that a key that was cut
 * short does not swallow what is printed next.
 */
import { BACKSLASH, belongs, byteClass, COLON, CR, DASH, DIGIT, LF, SPACE } from "./byte-class.ts";
import { NOTHING, type Mask, type Mode, type Verdict } from "./mode.ts";

const BASE64 = byteClass("A-Z", "a-z", "0-9", "+/=");
const QUOTES = byteClass("\"'`");
const DECORATION = byteClass("\"'`,|>*.;");
const ESCAPE_LETTERS = byteClass("nrt");
/** No word of prose or code that stands at a line's begin. */
const LONG_RUN = 16;
/** Lines wrapped at a narrow margin leave short remainders, but not many in a row. */
const SHORT_LINES = 3;
const BODY_LIMIT = 64 * 1024;
const DASHES = 5;
const TAB = 0x09;

export class PemBody implements Mode {
  readonly #mask: Mask;
  #phase: "edge" | "run" | "spaced" | "masking" | "header" | "escaped" = "edge";
  #held: number[] = [];
  #digitsOnly = true;
  #shortLines = 0;
  #sawBody = false;
  #dashes = 0;
  #length = 0;

  constructor(mask: Mask) {
    this.#mask = mask;
  }

  get heldFrom(): number {
    return this.#held[0] ?? NOTHING;
  }

  get yields(): boolean {
    return false;
  }

  take(byte: number, at: number): Verdict {
    this.#length += 1;
    if (this.#length > BODY_LIMIT) return "fail";
    if (byte === LF || byte === CR) return this.#lineEnd();
    if (this.#phase === "header") return "stay";
    if (this.#phase === "escaped" && belongs(ESCAPE_LETTERS, byte)) return this.#to("edge");
    if (byte === DASH) return this.#dash();
    this.#dashes = 0;
    if (belongs(BASE64, byte)) return this.#base64(byte, at);
    if (byte === SPACE || byte === TAB) return this.#space();
    if (byte === BACKSLASH) return this.#endRun("escaped");
    return this.#other(byte);
  }

  cut(): Verdict {
    return this.#phase === "run" || this.#phase === "spaced" ? this.#endRun("edge") : "stay";
  }

  settle(): void {
    if (this.#held.length > 0) {
      this.#maskHeld();
      this.#phase = "masking";
    }
  }

  finish(): Verdict {
    return this.#held.length > 0 && !this.#sawBody ? "fail" : this.#endRun("edge");
  }

  #base64(byte: number, at: number): Verdict {
    if (this.#phase === "masking") {
      this.#mask(at);
      return "stay";
    }
    if (this.#phase === "spaced") {
      if (!this.#digitsOnly) return "fail";
      this.#held = [];
    }
    if (this.#phase !== "run") this.#digitsOnly = true;
    this.#phase = "run";
    this.#held.push(at);
    this.#digitsOnly &&= belongs(DIGIT, byte);
    if (this.#held.length < LONG_RUN) return "stay";
    this.#maskHeld();
    this.#sawBody = true;
    this.#shortLines = 0;
    return this.#to("masking");
  }

  #lineEnd(): Verdict {
    this.#dashes = 0;
    return this.#endRun("edge");
  }

  #space(): Verdict {
    if (this.#phase === "run" || this.#phase === "spaced") return this.#to("spaced");
    return this.#to("edge");
  }

  /** The END line; `Proc-Type:` and its like before the body; the mark of a removed line in a diff. */
  #dash(): Verdict {
    this.#dashes += 1;
    if (this.#dashes >= DASHES) return "over";
    if (this.#phase === "run" || (this.#phase === "spaced" && this.#digitsOnly)) return this.#label();
    return this.#endRun("edge");
  }

  #other(byte: number): Verdict {
    if (this.#phase === "run") {
      if (belongs(QUOTES, byte)) return this.#endRun("edge");
      return byte === COLON || this.#digitsOnly ? this.#label() : "fail";
    }
    if (this.#phase === "spaced") return "fail";
    if (this.#phase === "masking" || belongs(DECORATION, byte)) return this.#to("edge");
    return "over";
  }

  /** A line number, or the name of a header before the body: public. */
  #label(): Verdict {
    if (!this.#digitsOnly && this.#sawBody) return "fail";
    this.#held = [];
    return this.#to(this.#digitsOnly ? "edge" : "header");
  }

  /** A short run that fills its line is the last of a body, or the remainder of a wrapped line. */
  #endRun(next: "edge" | "escaped"): Verdict {
    if (this.#held.length > 0) {
      this.#shortLines += 1;
      if (this.#shortLines > SHORT_LINES) return "fail";
      this.#maskHeld();
    }
    return this.#to(next);
  }

  #to(phase: "edge" | "spaced" | "masking" | "header" | "escaped"): Verdict {
    this.#phase = phase;
    return "stay";
  }

  #maskHeld(): void {
    for (const at of this.#held) this.#mask(at);
    this.#held = [];
  }
}
