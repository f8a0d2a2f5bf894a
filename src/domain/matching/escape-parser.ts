/**
 * Tells terminal sequences from text, byte by byte: CSI, OSC, DCS, SOS, PM, APC, charset and other escapes, as a VT500
 * does, but for one thing: a control inside an unfinished sequence ends it, so that output which was cut short hides
 * nothing of what follows. Rule WAI-4.
 */
const GROUND = 0;
const ESCAPE = 1;
const INTERMEDIATE = 2;
const CSI = 3;
const OSC = 4;
const STRING = 5;

const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
export const ESC = 0x1b;
const DEL = 0x7f;

const OPENS: ReadonlyMap<number, number> = new Map([
  [0x5b, CSI],
  [0x5d, OSC],
  [0x50, STRING],
  [0x58, STRING],
  [0x5e, STRING],
  [0x5f, STRING],
]);

export class EscapeParser {
  #state = GROUND;
  #parameter = "";
  #command = "";

  /** Whether a sequence has begun and isn't over. */
  get inside(): boolean {
    return this.#state !== GROUND;
  }

  /** After a byte that ended a CSI sequence: what it said, as `K`, `2K`, `1;31m`. Empty after any other byte. */
  get command(): string {
    return this.#command;
  }

  /** Whether `byte` belongs to a sequence. To be asked for ESC, and for every byte while inside. */
  take(byte: number): boolean {
    this.#command = "";
    if (byte === ESC) return this.#enter(ESCAPE);
    if (byte === CAN || byte === SUB) return this.#enter(GROUND);
    if (this.#state === STRING) return true;
    if (this.#state === OSC) return this.#enter(byte === BEL ? GROUND : OSC);
    if (byte === DEL) return true;
    if (byte < 0x20 || byte > DEL) {
      this.#state = GROUND;
      return false;
    }
    return this.#state === CSI ? this.#control(byte) : this.#escape(byte);
  }

  /** The two-byte form of a C1 control, whose single character was just read. */
  takeC1(codePoint: number): void {
    this.#command = "";
    this.#state = OPENS.get(codePoint - 0x40) ?? GROUND;
    this.#parameter = "";
  }

  #escape(byte: number): true {
    if (byte < 0x30) return this.#enter(INTERMEDIATE);
    const opens = this.#state === ESCAPE ? OPENS.get(byte) : undefined;
    return this.#enter(opens ?? GROUND);
  }

  #control(byte: number): true {
    if (byte < 0x40) {
      if (this.#parameter.length < 16) this.#parameter += String.fromCharCode(byte);
      return true;
    }
    this.#command = this.#parameter + String.fromCharCode(byte);
    return this.#enter(GROUND);
  }

  #enter(state: number): true {
    this.#state = state;
    this.#parameter = "";
    return true;
  }
}
