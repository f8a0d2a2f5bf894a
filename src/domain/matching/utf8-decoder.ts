/**
 * UTF-8, byte by byte, with the replacements of the WHATWG Encoding Standard: each longest beginning of a character
 * that goes wrong is one U+FFFD, and the byte that broke it is read anew.
 */
export const PENDING = -1;
/** What was begun is broken; the byte is to be offered again. */
export const BROKEN = -2;
export const REPLACEMENT = 0xfffd;

export class Utf8Decoder {
  #codePoint = 0;
  #needed = 0;
  #lower = 0x80;
  #upper = 0xbf;

  get pending(): boolean {
    return this.#needed > 0;
  }

  /** The first byte of a character that isn't ASCII. Answers PENDING, or REPLACEMENT if none begins with it. */
  begin(byte: number): number {
    this.#lower = 0x80;
    this.#upper = 0xbf;
    if (byte >= 0xc2 && byte <= 0xdf) {
      this.#needed = 1;
      this.#codePoint = byte & 0x1f;
    } else if (byte >= 0xe0 && byte <= 0xef) {
      if (byte === 0xe0) this.#lower = 0xa0;
      if (byte === 0xed) this.#upper = 0x9f;
      this.#needed = 2;
      this.#codePoint = byte & 0x0f;
    } else if (byte >= 0xf0 && byte <= 0xf4) {
      if (byte === 0xf0) this.#lower = 0x90;
      if (byte === 0xf4) this.#upper = 0x8f;
      this.#needed = 3;
      this.#codePoint = byte & 0x07;
    } else {
      return REPLACEMENT;
    }
    return PENDING;
  }

  /** The next byte of a pending character: its code point, PENDING or BROKEN. */
  next(byte: number): number {
    if (byte < this.#lower || byte > this.#upper) {
      this.#needed = 0;
      return BROKEN;
    }
    this.#lower = 0x80;
    this.#upper = 0xbf;
    this.#codePoint = (this.#codePoint << 6) | (byte & 0x3f);
    this.#needed -= 1;
    return this.#needed === 0 ? this.#codePoint : PENDING;
  }
}
