/**
 * The value after a keyword, masked as it comes: nothing is held but the begin of a word of code. It ends with its
 * quote, with white space, and in any case with the line.
 */
import { BACKSLASH, BACKSPACE, belongs, byteClass, COLON, EQUALS, SPACE } from "./byte-class.ts";
import { AUTH_SCHEMES, CODE_WORDS, isCodeWord, isLastWord, mayBecome, type CodeWords } from "./code-words.ts";
import { NOTHING, type Mask, type Mode, type Verdict } from "./mode.ts";

/** How the keyword was joined to its value. */
export type ValueForm = "colon" | "equals" | "option" | "header";

const VALUE_LIMIT = 4096;
const QUOTES = byteClass("\"'`");
const REFERENCE_BEGINS = byteClass("<{[(");
/** Behind a quote that was the end of a prompt's own text, `input("Password: ")`, its call goes on. */
const QUOTED_REFERENCE_BEGINS = byteClass("<{),;]");
const NOTHING_THERE = byteClass(",;)]}|>&");
const VARIABLE = byteClass("A-Z", "a-z", "_{(");
const FORMAT = byteClass("sd({");
const QUERY_ENDS = byteClass("&;");
/** `b"…"`, `f'…'`, `@"…"`: letters that belong to a quote. */
const QUOTE_PREFIX = byteClass("bBrRfFuU@$");
const QUOTE_PREFIX_LENGTH = 2;
const DOLLAR = 0x24;
const PERCENT = 0x25;
const TAB = 0x09;
const GREATER = 0x3e;

export class KeywordValue implements Mode {
  readonly #mask: Mask;
  readonly #form: ValueForm;
  #words: CodeWords;
  #phase: "before" | "sigil" | "word" | "inside" = "before";
  #held: number[] = [];
  #word = "";
  #quote = 0;
  /** The quote itself was escaped: JSON inside of a string. */
  #nested = false;
  #last: number;
  #length = 0;

  constructor(form: ValueForm, mask: Mask) {
    this.#form = form;
    this.#mask = mask;
    this.#words = form === "header" ? AUTH_SCHEMES : CODE_WORDS;
    this.#last = form === "equals" ? EQUALS : form === "option" ? SPACE : COLON;
  }

  get heldFrom(): number {
    return this.#held[0] ?? NOTHING;
  }

  get yields(): boolean {
    return false;
  }

  take(byte: number, at: number): Verdict {
    const verdict = this.#next(byte, at);
    this.#last = byte;
    return verdict;
  }

  cut(): Verdict {
    if (this.#phase === "word") this.#maskWord();
    return "over";
  }

  settle(): void {
    if (this.#phase !== "word") return;
    // A scheme is public, and the credential is still to come behind it.
    if (this.#words === AUTH_SCHEMES) this.#held = [];
    else this.#maskWord();
  }

  finish(): Verdict {
    if (this.#phase === "word" && isLastWord(this.#words, this.#word)) return "fail";
    this.settle();
    return "over";
  }

  #next(byte: number, at: number): Verdict {
    switch (this.#phase) {
      case "before":
        return this.#before(byte, at);
      case "sigil":
        return belongs(this.#last === DOLLAR ? VARIABLE : FORMAT, byte) ? "over" : this.#inside(byte, at);
      case "word":
        return this.#inWord(byte, at);
      case "inside":
        return this.#inside(byte, at);
    }
  }

  #before(byte: number, at: number): Verdict {
    if (this.#quote === 0) {
      if (byte === SPACE || byte === TAB) return this.#form === "option" ? "over" : "stay";
      if (byte === EQUALS || byte === GREATER) return this.#last === EQUALS || this.#last === COLON ? "stay" : "over";
      if (belongs(QUOTES, byte)) {
        this.#quote = byte;
        this.#nested = this.#last === BACKSLASH;
        return "stay";
      }
      if (byte === BACKSLASH) return "stay";
      if (byte === COLON || belongs(NOTHING_THERE, byte)) return "over";
    }
    // `read -p "Password: " name`: the quote was the end of the question.
    if (byte < SPACE || byte === this.#quote || (this.#quote !== 0 && byte === SPACE)) return "over";
    if (belongs(this.#quote === 0 ? REFERENCE_BEGINS : QUOTED_REFERENCE_BEGINS, byte)) return "over";
    return this.#begin(byte, at);
  }

  #begin(byte: number, at: number): Verdict {
    if (byte === DOLLAR || byte === PERCENT) {
      this.#phase = "sigil";
      return "stay";
    }
    const word = String.fromCharCode(byte);
    const literal = this.#quote !== 0 && this.#form !== "header";
    if (literal || !mayBecome(this.#words, word)) return this.#inside(byte, at);
    this.#phase = "word";
    this.#word = word;
    this.#held = [at];
    return "stay";
  }

  #inWord(byte: number, at: number): Verdict {
    const longer = this.#word + String.fromCharCode(byte);
    if (mayBecome(this.#words, longer)) {
      this.#word = longer;
      this.#held.push(at);
      return "stay";
    }
    if (isCodeWord(this.#words, this.#word, byte)) return this.#words === AUTH_SCHEMES ? this.#afterScheme() : "fail";
    this.#maskWord();
    return this.#inside(byte, at);
  }

  /** The scheme is public; the credential is a literal whatever it looks like. */
  #afterScheme(): Verdict {
    this.#held = [];
    this.#phase = "before";
    this.#words = new Map();
    return "stay";
  }

  #inside(byte: number, at: number): Verdict {
    this.#phase = "inside";
    if (byte === BACKSPACE || (byte === SPACE && this.#last === BACKSPACE)) return "stay";
    if (this.#quote === 0 && this.#opensLate(byte)) {
      this.#quote = byte;
      return "stay";
    }
    this.#length += 1;
    if (this.#endsAt(byte) || this.#length > VALUE_LIMIT) return "over";
    this.#mask(at);
    return "stay";
  }

  #opensLate(byte: number): boolean {
    return belongs(QUOTES, byte) && this.#length <= QUOTE_PREFIX_LENGTH && belongs(QUOTE_PREFIX, this.#last);
  }

  #endsAt(byte: number): boolean {
    if (byte < SPACE && byte !== TAB) return true;
    if (this.#quote !== 0) return byte === this.#quote && (this.#nested || this.#last !== BACKSLASH);
    if (byte === SPACE || byte === TAB || belongs(QUOTES, byte)) return true;
    return this.#form === "equals" && belongs(QUERY_ENDS, byte);
  }

  #maskWord(): void {
    for (const at of this.#held) this.#mask(at);
    this.#held = [];
    this.#phase = "inside";
  }
}
