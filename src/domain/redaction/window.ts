/**
 * The raw bytes that rules may still look at, by offset in the stream: what is held, the new chunk, and a little of
 * what has left already, so that a prefix or a keyword cut by a chunk's end is seen as if it had come whole.
 */

/** How far back a rule may look from the first byte that is held. */
export const LOOK_BEHIND = 96;

export class Window {
  #bytes = new Uint8Array(4096);
  #words = new Uint16Array(this.#bytes.buffer);
  /** Offset of the first byte kept. */
  #base: number;
  #length = 0;

  constructor(start: number) {
    this.#base = start;
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** The same memory as `bytes`. */
  get words(): Uint16Array {
    return this.#words;
  }

  get base(): number {
    return this.#base;
  }

  get end(): number {
    return this.#base + this.#length;
  }

  /** The byte at an offset; -1 where none is known. */
  at(offset: number): number {
    const index = offset - this.#base;
    return index >= 0 && index < this.#length ? (this.#bytes[index] ?? -1) : -1;
  }

  slice(from: number, to: number): Uint8Array {
    return this.#bytes.slice(from - this.#base, to - this.#base);
  }

  append(chunk: Uint8Array): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#bytes.length) {
      const larger = new Uint8Array(needed * 2);
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
      this.#words = new Uint16Array(larger.buffer);
    }
    this.#bytes.set(chunk, this.#length);
    this.#length = needed;
  }

  /** Forgets what lies further back than any rule looks from here. */
  forgetBefore(offset: number): void {
    const dropped = offset - LOOK_BEHIND - this.#base;
    if (dropped <= 0) return;
    this.#bytes.copyWithin(0, dropped, this.#length);
    this.#base += dropped;
    this.#length -= dropped;
  }
}
