/**
 * Takes huge counts of sequences that repeat something (insert lines, scroll, erase characters …) down to the largest
 * screen's: the emulator does each of them in a loop, so that `CSI 99999999 L` would hold up every screen of the host.
 * Any chunking gives the same bytes.
 */
const ESC = 0x1b;
const BRACKET = 0x5b;
const LONGEST = 64;
/** As many columns or rows as a screen can have, and how many digits that takes. */
const MOST = 1_000;
const MOST_DIGITS = 4;

/** ICH, CUU…CPL, CHT, IL, DL, DCH, SU, SD, ECH, CBT, REP, SL/SR. */
const REPEATING: ReadonlySet<number> = new Set(Buffer.from("@ABCDEFILMPSTXZb"));

export class CountLimit {
  /** A sequence that is not complete yet. */
  #held: number[] = [];

  get held(): Uint8Array {
    return Uint8Array.from(this.#held);
  }

  push(bytes: Uint8Array): Uint8Array {
    if (this.#held.length === 0 && !hasLargeNumber(bytes)) {
      // Nothing to change in what is here; what is open at its end is looked at with its rest.
      const open = openAt(bytes);
      this.#held = [...bytes.subarray(open)];
      return bytes.subarray(0, open);
    }
    const out: number[] = [];
    for (const byte of bytes) this.#take(byte, out);
    return Uint8Array.from(out);
  }

  #take(byte: number, out: number[]): void {
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
    out.push(...(REPEATING.has(byte) ? limited(held) : held));
  }
}

function isParameter(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || byte === 0x3b;
}

function limited(sequence: readonly number[]): Uint8Array {
  const text = String.fromCharCode(...sequence);
  return Buffer.from(
    text.replaceAll(/\d+/g, (count) => (Number(count) > MOST ? String(MOST) : count)),
    "latin1",
  );
}

function hasLargeNumber(bytes: Uint8Array): boolean {
  let digits = 0;
  for (const byte of bytes) {
    digits = byte >= 0x30 && byte <= 0x39 ? digits + 1 : 0;
    if (digits >= MOST_DIGITS) return true;
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
