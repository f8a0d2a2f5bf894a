/**
 * One line of a terminal at a time, as it looks in the end: what a carriage return, backspace or column move
 * overwrites is gone, and so is what was erased. Movements between lines are not followed.
 */
import { ESC, EscapeParser } from "./escape-parser.ts";
import { BROKEN, PENDING, REPLACEMENT, Utf8Decoder } from "./utf8-decoder.ts";

/** `raws[i]` is where `cells[i]` stands in the bytes; the line is `bytes[begin, end)`. */
export type PaintedLine = {
  readonly cells: readonly string[];
  readonly raws: readonly number[];
  readonly begin: number;
  readonly end: number;
};

/** Column moves beyond it are not believed: a hole is filled with spaces. */
const COLUMN_MAX = 1000;

export class LinePainter {
  readonly lines: PaintedLine[] = [];
  readonly #parser = new EscapeParser();
  readonly #utf8 = new Utf8Decoder();
  #cells: string[] = [];
  #raws: number[] = [];
  #column = 0;
  #begin = 0;
  #at = 0;
  #character = 0;
  #overwritten = false;

  push(bytes: Uint8Array): void {
    for (const byte of bytes) {
      this.#byte(byte);
      this.#at += 1;
    }
  }

  /** Ends the last line if anything stands in it. */
  end(): void {
    if (this.#at > this.#begin) this.#commit();
  }

  #byte(byte: number): void {
    if (this.#utf8.pending) {
      const codePoint = this.#utf8.next(byte);
      if (codePoint === PENDING) return;
      this.#put(codePoint === BROKEN ? REPLACEMENT : codePoint, this.#character);
      if (codePoint !== BROKEN) return;
    }
    if ((this.#parser.inside || byte === ESC) && this.#parser.take(byte)) {
      if (this.#parser.command !== "") this.#command(this.#parser.command);
    } else if (byte >= 0x80) {
      this.#character = this.#at;
      if (this.#utf8.begin(byte) === REPLACEMENT) this.#put(REPLACEMENT, this.#at);
    } else {
      this.#ascii(byte);
    }
  }

  #ascii(byte: number): void {
    if (byte === 0x0a) {
      this.#at += 1;
      this.#commit();
      this.#at -= 1;
    } else if (byte === 0x0d) {
      this.#moveTo(0);
    } else if (byte === 0x08) {
      this.#moveTo(this.#column - 1);
    } else if (byte === 0x09 || (byte >= 0x20 && byte !== 0x7f)) {
      this.#put(byte, this.#at);
    }
  }

  #put(codePoint: number, raw: number): void {
    if (codePoint >= 0x80 && codePoint < 0xa0) return this.#parser.takeC1(codePoint);
    while (this.#cells.length < this.#column) this.#blank(this.#cells.length);
    this.#cells[this.#column] = String.fromCodePoint(codePoint);
    this.#raws[this.#column] = raw;
    this.#column += 1;
  }

  #blank(column: number): void {
    this.#cells[column] = " ";
    this.#raws[column] = this.#at;
  }

  #command(command: string): void {
    const count = Math.max(1, Number.parseInt(command, 10) || 1);
    switch (command.at(-1)) {
      case "C":
        return this.#moveTo(this.#column + count);
      case "D":
        return this.#moveTo(this.#column - count);
      case "G":
        return this.#moveTo(count - 1);
      case "K":
        return this.#erase(command);
      default:
    }
  }

  #erase(command: string): void {
    this.#overwritten = true;
    const before = command === "1K" || command === "2K";
    if (command !== "1K") this.#cells.length = this.#raws.length = Math.min(this.#cells.length, this.#column);
    if (before) for (let at = 0; at < Math.min(this.#column + 1, this.#cells.length); at += 1) this.#blank(at);
  }

  #moveTo(column: number): void {
    this.#overwritten = true;
    this.#column = Math.max(0, Math.min(column, Math.max(COLUMN_MAX, this.#cells.length)));
  }

  #commit(): void {
    if (this.#overwritten) {
      while (this.#cells.at(-1) === " ") this.#cells.pop();
      this.#raws.length = this.#cells.length;
    }
    this.lines.push({ cells: this.#cells, raws: this.#raws, begin: this.#begin, end: this.#at });
    this.#cells = [];
    this.#raws = [];
    this.#column = 0;
    this.#begin = this.#at;
    this.#overwritten = false;
  }
}
