/**
 * Takes the counts of sequences that repeat something (insert lines, scroll, erase characters …) down to a screenful:
 * the emulator does each of them in a loop, so that `CSI 99999999 L` would hold up every screen of the host. More than
 * a screenful of any of them looks the same as a screenful. Any chunking gives the same bytes.
 */
const ESC = 0x1b;
const BRACKET = 0x5b;
const LONGEST = 64;

/** ICH, CUU…CPL, CHT, IL, DL, DCH, SU, SD, ECH, CBT, REP, SL/SR. */
const REPEATING: ReadonlySet<number> = new Set(Buffer.from("@ABCDEFILMPSTXZb"));

export class CountLimit {
  /** A sequence that is not complete yet. */
  #held: number[] = [];

  get held(): Uint8Array {
    return Uint8Array.from(this.#held);
  }

  push(bytes: Uint8Array, most: number): Uint8Array {
    if (this.#held.length === 0 && !hasLongNumber(bytes)) {
      // Nothing to change in what is here; what is open at its end is looked at with its rest.
      const open = openAt(bytes);
      this.#held = [...bytes.subarray(open)];
      return bytes.subarray(0, open);
    }
    const out: number[] = [];
    for (const byte of bytes) this.#take(byte, most, out);
    return Uint8Array.from(out);
  }

  #take(byte: number, most: number, out: number[]): void {
    const held = this.#held;
    if (byte === ESC || held.length === 0) {
      out.push(...held);
      this.#held = [];
      if (byte === ESC) this.#held = [byte];
      else out.push(byte);
      return;
    }
    held.push(byte);
    const isOpen = held.length === 2 ? byte === BRACKET : isParameter(byte) && held.length < LONGEST;
    if (isOpen) return;
    this.#held = [];
    out.push(...(REPEATING.has(byte) ? limited(held, most) : held));
  }
}

function isParameter(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || byte === 0x3b;
}

function limited(sequence: readonly number[], most: number): Uint8Array {
  const text = String.fromCharCode(...sequence);
  return Buffer.from(
    text.replaceAll(/\d+/g, (count) => (Number(count) > most ? String(most) : count)),
    "latin1",
  );
}

function hasLongNumber(bytes: Uint8Array): boolean {
  let digits = 0;
  for (const byte of bytes) {
    digits = byte >= 0x30 && byte <= 0x39 ? digits + 1 : 0;
    if (digits > 3) return true;
  }
  return false;
}

/** Where an unfinished sequence begins at the end, else the end. */
function openAt(bytes: Uint8Array): number {
  const from = bytes.lastIndexOf(ESC);
  if (from < 0 || bytes.length - from >= LONGEST) return bytes.length;
  const rest = bytes.subarray(from + 1);
  if (rest.length === 0) return from;
  const isOpen = rest[0] === BRACKET && rest.subarray(1).every(isParameter);
  return isOpen ? from : bytes.length;
}
