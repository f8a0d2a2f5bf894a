/**
 * Terminal output as text for matching: UTF-8 decoded, sequences and controls removed, CRLF and a lone CR one newline.
 * Append-only and the same for any chunking; every unit can be traced to its raw bytes. What isn't complete (a
 * character, a sequence, a CR whose follower isn't known) isn't text yet. Rules WAI-2..WAI-6 in docs/spec/waiting.md.
 */
import { ESC, EscapeParser } from "./matching/escape-parser.ts";
import { RawMap } from "./matching/raw-map.ts";
import { BROKEN, PENDING, REPLACEMENT, Utf8Decoder } from "./matching/utf8-decoder.ts";

/** Makes a string of the first `length` units. `ascii`: none is above 0x7f. */
export type UnitsToText = (units: Uint16Array, length: number, kind: { readonly ascii: boolean }) => string;

const LF = 0x0a;
const CR = 0x0d;
const BRACKET = 0x5b;
const SLICE = 32 * 1024;

/** 1 for bytes that are text by themselves: printable ASCII, tab and newline. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) => {
  return (byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === LF ? 1 : 0;
});

export class TextView {
  readonly #toText: UnitsToText;
  readonly #parser = new EscapeParser();
  readonly #utf8 = new Utf8Decoder();
  readonly #map = new RawMap();
  // A byte gives at most one unit, but the first of a slice may also settle what was open before it.
  readonly #units = new Uint16Array(SLICE + 4);
  #filled = 0;
  #ascii = true;
  #flushed = 0;
  #cursor: number;
  #carriageReturn = false;
  /** Where that began which isn't complete. */
  #open = -1;

  constructor(cursor: number, toText: UnitsToText = fromCharCodes) {
    this.#cursor = cursor;
    this.#toText = toText;
  }

  /** Units of text so far. */
  get length(): number {
    return this.#flushed + this.#filled;
  }

  /** Where to begin anew so that the text goes on after its present end: before anything that isn't complete. */
  get settledCursor(): number {
    return this.#open >= 0 ? this.#open : this.#cursor;
  }

  /** Takes the next bytes; answers the text that is new. */
  push(bytes: Uint8Array): string {
    let text = "";
    for (let from = 0; from < bytes.length; from += SLICE) {
      this.#slice(bytes, from, Math.min(bytes.length, from + SLICE));
      text += this.#flush();
    }
    return text;
  }

  rawBegin(index: number): number {
    return this.#map.begin(index);
  }

  rawEnd(index: number): number {
    return this.#map.end(index);
  }

  /** The first unit that begins at or after a raw offset; `length` if none does yet. */
  indexAtOrAfter(raw: number): number {
    return this.#map.atOrAfter(raw, this.length);
  }

  /** Units before this one will not be asked for again. */
  drop(beforeIndex: number): void {
    this.#map.drop(beforeIndex);
  }

  #slice(bytes: Uint8Array, from: number, to: number): void {
    const base = this.#cursor - from;
    const units = this.#units;
    let at = from;
    while (at < to) {
      if (this.#open >= 0) {
        this.#take(bytes[at]!, base + at);
        at += 1;
        continue;
      }
      let filled = this.#filled;
      let byte = bytes[at]!;
      if (PLAIN[byte] === 1) {
        this.#map.addPlain(this.#flushed + filled, base + at);
        do {
          units[filled] = byte;
          filled += 1;
          at += 1;
          byte = at < to ? bytes[at]! : 0;
        } while (PLAIN[byte] === 1);
        this.#filled = filled;
        continue;
      }
      const skipped = this.#whole(bytes, at, to, base);
      if (skipped === 0) this.#take(byte, base + at);
      at += Math.max(1, skipped);
    }
    this.#cursor = base + to;
  }

  /** Shorter ways for what is most common, when it is in the slice as a whole: CRLF and CSI. Answers its length. */
  #whole(bytes: Uint8Array, at: number, to: number, base: number): number {
    if (at + 1 >= to) return 0;
    const next = bytes[at + 1]!;
    if (bytes[at] === CR && next === LF) {
      this.#map.addCrlf(this.#flushed + this.#filled, base + at + 1);
      this.#emit(LF);
      return 2;
    }
    if (bytes[at] !== ESC || next !== BRACKET) return 0;
    for (let end = at + 2; end < to; end += 1) {
      const byte = bytes[end]!;
      if (byte >= 0x40 && byte < 0x7f) return end + 1 - at;
      if (byte < 0x20 || byte >= 0x7f) return 0;
    }
    return 0;
  }

  #flush(): string {
    const text = this.#toText(this.#units, this.#filled, { ascii: this.#ascii });
    this.#flushed += this.#filled;
    this.#filled = 0;
    this.#ascii = true;
    return text;
  }

  #take(byte: number, raw: number): void {
    if (this.#open >= 0 && this.#goesOn(byte, raw)) return;
    this.#open = -1;
    if (PLAIN[byte] === 1) {
      this.#map.addPlain(this.length, raw);
      this.#emit(byte);
    } else if (byte === CR || byte === ESC) {
      this.#open = raw;
      if (byte === CR) this.#carriageReturn = true;
      else this.#parser.take(byte);
    } else if (byte >= 0x80) {
      if (this.#utf8.begin(byte) === PENDING) this.#open = raw;
      else this.#character(REPLACEMENT, raw, 1);
    }
  }

  /** Whether the byte was part of what is open, or completed it. */
  #goesOn(byte: number, raw: number): boolean {
    if (this.#carriageReturn) {
      this.#carriageReturn = false;
      if (byte === LF) this.#map.addCrlf(this.length, raw);
      else this.#map.addPlain(this.length, raw - 1);
      this.#emit(LF);
      this.#open = -1;
      return byte === LF;
    }
    if (this.#parser.inside) {
      const taken = this.#parser.take(byte);
      if (taken && !this.#parser.inside) this.#open = -1;
      // A sequence that ESC breaks off is over: beginning anew at the ESC gives the same text.
      if (taken && byte === ESC) this.#open = raw;
      return taken;
    }
    const codePoint = this.#utf8.next(byte);
    if (codePoint === PENDING) return true;
    const begin = this.#open;
    this.#open = -1;
    this.#character(
      codePoint === BROKEN ? REPLACEMENT : codePoint,
      begin,
      raw - begin + (codePoint === BROKEN ? 0 : 1),
    );
    return codePoint !== BROKEN;
  }

  #character(codePoint: number, raw: number, bytes: number): void {
    if (codePoint < 0xa0) {
      this.#parser.takeC1(codePoint);
      if (this.#parser.inside) this.#open = raw;
      return;
    }
    const units = codePoint > 0xffff ? 2 : 1;
    this.#map.addWide(this.length, raw, { units, bytes });
    if (units === 2) this.#emit(0xd7c0 + (codePoint >> 10));
    this.#emit(units === 2 ? 0xdc00 | (codePoint & 0x3ff) : codePoint);
  }

  #emit(unit: number): void {
    this.#units[this.#filled] = unit;
    this.#filled += 1;
    if (unit > 0x7f) this.#ascii = false;
  }
}

function fromCharCodes(units: Uint16Array, length: number): string {
  let text = "";
  for (let at = 0; at < length; at += 8192) {
    text += String.fromCharCode(...units.subarray(at, Math.min(length, at + 8192)));
  }
  return text;
}
