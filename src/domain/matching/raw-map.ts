/**
 * Where each UTF-16 unit of a text stands in the raw bytes. Kept as runs of units of equal width, so that plain text
 * costs one entry per line. Entries only grow at the end and are dropped at the front.
 */
/** Units of one byte each. */
const PLAIN = 0;
/** Plain, and the first unit is the newline of a CRLF: it begins one byte sooner. */
const CRLF = 1;
/** Above: `units << 4 | bytes` of one character. */
const WIDE = 16;

export class RawMap {
  #text = new Float64Array(64);
  #raw = new Float64Array(64);
  #shape = new Uint8Array(64);
  /** Runs in use: from `#first` to before `#count`. */
  #first = 0;
  #count = 0;

  /** Plain units begin at `index`, which stand at `raw`. */
  addPlain(index: number, raw: number): void {
    const last = this.#count - 1;
    const continues = last >= this.#first && this.#shape[last]! <= CRLF;
    if (!continues || raw - this.#raw[last]! !== index - this.#text[last]!) this.#push(index, raw, PLAIN);
  }

  /** The newline of a CRLF, whose LF is at `raw`. */
  addCrlf(index: number, raw: number): void {
    this.#push(index, raw, CRLF);
  }

  /** One character of `units` that takes `bytes` from `raw` on. */
  addWide(index: number, raw: number, { units, bytes }: { readonly units: number; readonly bytes: number }): void {
    const shape = (units << 4) | bytes;
    const last = this.#count - 1;
    const continues = last >= this.#first && this.#shape[last] === shape;
    const steps = continues ? (index - this.#text[last]!) / units : 0;
    if (!continues || raw - this.#raw[last]! !== steps * bytes) this.#push(index, raw, shape);
  }

  begin(index: number): number {
    return this.#place(index, 0);
  }

  end(index: number): number {
    return this.#place(index, 1);
  }

  /** The first unit that begins at or after `raw`, if it is before `length`, which is the text's; else `length`. */
  atOrAfter(raw: number, length: number): number {
    let low = this.#first;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#raw[middle]! - (this.#shape[middle] === CRLF ? 1 : 0) < raw) low = middle + 1;
      else high = middle;
    }
    const next = low < this.#count ? this.#text[low]! : length;
    if (low === this.#first) return Math.min(next, length);
    const shape = this.#shape[low - 1]!;
    const distance = raw - this.#raw[low - 1]!;
    const units = shape < WIDE ? Math.max(distance, 1) : Math.ceil(distance / (shape & 15)) * (shape >> 4);
    return Math.min(this.#text[low - 1]! + units, next, length);
  }

  /** Forgets what only units before `index` need. */
  drop(index: number): void {
    if (this.#count > this.#first) this.#first = this.#run(index);
  }

  #push(index: number, raw: number, shape: number): void {
    if (this.#count === this.#text.length) this.#makeRoom();
    this.#text[this.#count] = index;
    this.#raw[this.#count] = raw;
    this.#shape[this.#count] = shape;
    this.#count += 1;
  }

  /** Moves what is in use to the front, into twice the room if it fills half of it. */
  #makeRoom(): void {
    const used = this.#count - this.#first;
    const size = used * 2 > this.#text.length ? this.#text.length * 2 : this.#text.length;
    this.#text = moved(this.#text.subarray(this.#first), new Float64Array(size));
    this.#raw = moved(this.#raw.subarray(this.#first), new Float64Array(size));
    this.#shape = moved(this.#shape.subarray(this.#first), new Uint8Array(size));
    this.#first = 0;
    this.#count = used;
  }

  #place(index: number, after: 0 | 1): number {
    const run = this.#run(index);
    const shape = this.#shape[run]!;
    const units = index - this.#text[run]!;
    const raw = this.#raw[run]!;
    if (shape >= WIDE) return raw + (Math.floor(units / (shape >> 4)) + after) * (shape & 15);
    return raw + units + after - (after === 0 && units === 0 ? shape : 0);
  }

  /** The run that holds `index`. */
  #run(index: number): number {
    let low = this.#first;
    let high = this.#count - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#text[middle]! <= index) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

function moved<T extends Float64Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
