/**
 * Gathers what a person types at a prompt that shows nothing, key by key or at once, until the line ends: then the value
 * is known that must not be printed. Never leaves memory; forgotten with its prompt.
 */
export class SecretLine {
  #typed: number[] = [];

  /** Answers the values of the lines that ended. */
  type(bytes: Uint8Array): readonly Uint8Array[] {
    const values: Uint8Array[] = [];
    for (const byte of bytes) {
      if (byte === CR || byte === LF) values.push(...this.#end());
      else if (byte === BACKSPACE || byte === DELETE) this.#typed.pop();
      else if (byte === KILL_LINE) this.#typed = [];
      else if (this.#typed.length < LINE_MAX) this.#typed.push(byte);
    }
    return values;
  }

  forget(): void {
    this.#typed = [];
  }

  #end(): readonly Uint8Array[] {
    const value = Uint8Array.from(this.#typed);
    this.#typed = [];
    return value.length >= VALUE_MIN ? [value] : [];
  }
}

const CR = 13;
const LF = 10;
const BACKSPACE = 8;
const DELETE = 127;
const KILL_LINE = 21;
/** Canonical mode takes no longer line. */
const LINE_MAX = 4096;
/** A shorter value would mask ordinary text. */
const VALUE_MIN = 4;
