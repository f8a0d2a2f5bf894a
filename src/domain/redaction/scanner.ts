/**
 * Finds secrets in a stream of bytes. What it decides of a byte depends on the bytes alone, never on how they were
 * cut into chunks: everything it needs to remember is its mode, its herald, an open escape sequence and the window.
 */
import { ALNUM, BACKSLASH, belongs, byteClass, COLON, CR, DASH, DIGIT, EQUALS, ESC, LF, SPACE } from "./byte-class.ts";
import { csiEnd, EscapeReader } from "./escape-reader.ts";
import { bearerHerald, optionHerald, pemHerald, urlHerald, type Announcement, type Herald } from "./herald.ts";
import { keywordBefore, type Behind } from "./keywords.ts";
import { KeywordValue, type ValueForm } from "./keyword-value.ts";
import { HOLD_LIMIT, NOTHING, type Mask, type Mode, type Verdict } from "./mode.ts";
import { PemBody } from "./pem-body.ts";
import { TokenBody } from "./token-body.ts";
import { RANDOM_VALUE, TELEGRAM, URL_PASSWORD, type PrefixRule } from "./token-kinds.ts";
import { isTriggerByte, nextTrigger, rulesEndingWith } from "./triggers.ts";
import type { Window } from "./window.ts";

const SLASH = 0x2f;
const LETTER_B = 0x42;
const LETTER_M = 0x6d;
const PERCENT = 0x25;
const BRACKET = 0x5b;
const ESCAPE_LETTERS = byteClass("nrtbf");
const SGR_PARAMETERS = byteClass("0-9", ";");

export class Scanner {
  readonly #window: Window;
  readonly #mask: Mask;
  readonly #escapes = new EscapeReader();
  readonly #behind: Behind;
  #next: number;
  #mode: Mode | undefined;
  #herald: Herald | undefined;

  constructor(window: Window, mask: Mask) {
    this.#window = window;
    this.#mask = mask;
    this.#next = window.end;
    this.#behind = { at: (offset) => window.at(offset), before: (offset) => this.#escapes.before(offset) };
  }

  /** Offset of the first byte that may not leave yet. */
  get heldFrom(): number {
    return Math.min(this.#mode?.heldFrom ?? NOTHING, this.#window.end);
  }

  /** Looks at what was added to the window. */
  scan(): void {
    while (this.#next < this.#window.end) {
      if (this.#mode === undefined && this.#herald === undefined && !this.#escapes.open) this.#skip();
      if (this.#next < this.#window.end) this.#step(this.#window.at(this.#next));
    }
  }

  /** Nothing is held any longer: what was is masked. */
  settle(): void {
    this.#mode?.settle();
  }

  /** What follows does not continue what came. */
  cut(): void {
    this.#herald = undefined;
    if (this.#mode === undefined) return;
    this.#leave(this.#mode.cut());
    this.scan();
  }

  /** Nothing follows: what isn't a secret by now is none. */
  finish(): void {
    for (let verdict = this.#mode?.finish(); verdict === "fail"; verdict = this.#mode?.finish()) {
      this.#leave(verdict);
      this.scan();
    }
  }

  /** Passes over what no rule begins with. */
  #skip(): void {
    const { base, bytes, end } = this.#window;
    const to = end - base;
    let index = this.#triggerFrom(this.#next - base, to);
    for (let behind = 0; index < to && bytes[index] === ESC; index = this.#triggerFrom(behind, to)) {
      behind = csiEnd(bytes, index, to);
      if (behind === -1) break;
      this.#escapes.passed(base + index, base + behind, bytes[behind - 1] ?? 0);
    }
    this.#next = base + index;
  }

  #triggerFrom(index: number, to: number): number {
    const { base, bytes } = this.#window;
    // Behind a colour code the bytes before don't tell what came before.
    if (index < to && this.#escapes.endsAt(base + index) && isTriggerByte(bytes[index] ?? 0)) return index;
    return nextTrigger(this.#window, index, to);
  }

  #step(byte: number): void {
    if (this.#escapes.open) this.#escape(byte);
    else if (byte === ESC) {
      this.#escapes.begin(this.#next);
      this.#next += 1;
    } else if (this.#mode === undefined) this.#lookFor(byte);
    else this.#continue(this.#mode, byte);
    const heldFrom = this.#mode?.heldFrom ?? NOTHING;
    if (this.#next - heldFrom >= HOLD_LIMIT) this.#mode?.settle();
  }

  #escape(byte: number): void {
    const step = this.#escapes.take(byte, this.#next);
    if (step === "text") return;
    this.#next += 1;
    if (step !== "cut") return;
    this.#herald = undefined;
    if (this.#mode !== undefined) this.#leave(this.#mode.cut());
  }

  #continue(mode: Mode, byte: number): void {
    const rule = mode.yields ? this.#ruleAt(byte) : undefined;
    if (rule !== undefined) {
      this.#mode = new TokenBody(rule.kind, this.#mask);
      this.#next += 1;
      return;
    }
    const verdict = mode.take(byte, this.#next);
    if (verdict === "stay") this.#next += 1;
    else this.#leave(verdict);
  }

  #leave(verdict: Verdict): void {
    if (verdict === "stay") return;
    if (verdict === "fail") this.#next = Math.min(this.#next, this.#mode?.heldFrom ?? NOTHING);
    this.#mode = undefined;
  }

  #lookFor(byte: number): void {
    const announced = this.#herald?.take(byte) ?? "gone";
    this.#mode = this.#announcedMode(announced) ?? this.#modeAt(byte);
    if (announced !== "watch" || this.#mode !== undefined) this.#herald = undefined;
    if (this.#mode === undefined) this.#herald ??= this.#heraldAt(byte);
    this.#next += 1;
  }

  #announcedMode(announced: Announcement): Mode | undefined {
    switch (announced) {
      case "option":
        return this.#valueOf("option");
      case "bearer":
        return new TokenBody(RANDOM_VALUE, this.#mask);
      case "url":
        return new TokenBody(URL_PASSWORD, this.#mask);
      case "pem":
        return new PemBody(this.#mask);
      case "watch":
      case "gone":
        return undefined;
    }
  }

  #modeAt(byte: number): Mode | undefined {
    if (byte === COLON && this.#isBotId()) return new TokenBody(TELEGRAM, this.#mask);
    if (byte === COLON) return this.#valueOf("colon");
    if (byte === EQUALS) return this.#valueOf("equals");
    const rule = this.#ruleAt(byte);
    return rule === undefined ? undefined : new TokenBody(rule.kind, this.#mask);
  }

  #valueOf(form: ValueForm): Mode | undefined {
    const kind = keywordBefore(this.#behind, this.#next);
    if (kind === undefined) return undefined;
    // In code, `authorization = headers.get(…)`.
    if (kind === "header" && form === "equals" && this.#window.at(this.#next - 1) === SPACE) return undefined;
    if (kind === "random") return new TokenBody(RANDOM_VALUE, this.#mask);
    return new KeywordValue(kind === "header" ? "header" : form, this.#mask);
  }

  #heraldAt(byte: number): Herald | undefined {
    const before = this.#window.at(this.#next - 1);
    if (byte === SLASH) return before === COLON ? urlHerald() : undefined;
    if (byte === DASH) return before === DASH && this.#isBoundary(this.#next - 1) ? optionHerald() : undefined;
    if (byte !== LETTER_B) return undefined;
    for (let back = 1; this.#window.at(this.#next - back) === DASH; back += 1) if (back === 5) return pemHerald();
    return this.#isBoundary(this.#next) ? bearerHerald() : undefined;
  }

  #ruleAt(byte: number): PrefixRule | undefined {
    for (const rule of rulesEndingWith(byte)) {
      const begin = this.#beginOf(rule.bytes);
      if (begin !== undefined && (!rule.boundary || this.#isBoundary(begin))) return rule;
    }
    return undefined;
  }

  /** Where a prefix that ends here begins. */
  #beginOf(prefix: Uint8Array): number | undefined {
    let at = this.#next;
    for (let index = prefix.length - 2; index >= 0; index -= 1) {
      at = this.#beforeBreak(at);
      if (this.#window.at(at) !== prefix[index]) return undefined;
    }
    return at;
  }

  /** The offset of the character before, be there a colour code or a line break between. */
  #beforeBreak(at: number): number {
    let before = this.#escapes.before(at);
    if (this.#window.at(before) !== LF) return before;
    before -= 1;
    return this.#window.at(before) === CR ? before - 1 : before;
  }

  /** No letter or digit stands before, unless it belongs to an escape: `\n` in JSON, `%20` in a URL, `[0m`. */
  #isBoundary(at: number): boolean {
    if (this.#escapes.endsAt(at)) return true;
    const before = this.#window.at(at - 1);
    if (!belongs(ALNUM, before)) return before !== DASH || this.#window.at(at) !== DASH;
    if (this.#window.at(at - 2) === BACKSLASH) return belongs(ESCAPE_LETTERS, before);
    if (this.#window.at(at - 3) === PERCENT) return true;
    if (before !== LETTER_M) return false;
    let back = at - 2;
    while (belongs(SGR_PARAMETERS, this.#window.at(back))) back -= 1;
    return this.#window.at(back) === BRACKET;
  }

  /** The public part of a Telegram bot token. */
  #isBotId(): boolean {
    let digits = 0;
    let at = this.#escapes.before(this.#next);
    for (; digits <= 10 && belongs(DIGIT, this.#window.at(at)); at = this.#escapes.before(at)) digits += 1;
    return digits >= 8 && digits <= 10;
  }
}
