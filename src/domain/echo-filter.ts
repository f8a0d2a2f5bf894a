/**
 * Shows a person the command that runs instead of the line by which we made the shell read it.
 *
 * The line editor echoes what was typed as one run of bytes. The first such run after `expect` is replaced; everything
 * else passes as it is, in order, whatever the chunks. Rules BLK-7 and BLK-8 in docs/spec/blocks.md.
 */

export class EchoFilter {
  #typed: Uint8Array = NOTHING;
  #shown: Uint8Array = NOTHING;
  #held: Uint8Array = NOTHING;

  /** How many bytes wait for the rest of what may be the echo. */
  get held(): number {
    return this.#held.length;
  }

  /** From now on `typed` is shown as `shown`, once. An empty `typed` expects nothing. */
  expect(typed: Uint8Array, shown: Uint8Array): void {
    this.#typed = typed;
    this.#shown = shown;
  }

  /** What may be passed on now. */
  push(bytes: Uint8Array): Uint8Array {
    if (this.#typed.length === 0 && this.#held.length === 0) return bytes;
    const data = joined(this.#held, bytes);
    this.#held = NOTHING;
    const at = foundAt(data, this.#typed);
    if (at + this.#typed.length <= data.length) {
      const rest = data.subarray(at + this.#typed.length);
      const shown = this.#shown;
      this.expect(NOTHING, NOTHING);
      return joined(data.subarray(0, at), shown, rest);
    }
    this.#held = data.slice(at);
    return data.subarray(0, at);
  }

  /** Lets go of what is held; an echo that begins after this is still replaced. */
  release(): Uint8Array {
    const held = this.#held;
    this.#held = NOTHING;
    return held;
  }

  /** Expects nothing any more: the command has begun, and what it prints is its own. */
  cancel(): Uint8Array {
    this.expect(NOTHING, NOTHING);
    return this.release();
  }
}

const NOTHING = new Uint8Array(0);

/** Where `needle`, or at the very end a beginning of it, stands; the length of `data` if nowhere. */
function foundAt(data: Uint8Array, needle: Uint8Array): number {
  for (let at = 0; at < data.length; at += 1) if (standsAt(data, needle, at)) return at;
  return data.length;
}

function standsAt(data: Uint8Array, needle: Uint8Array, at: number): boolean {
  const length = Math.min(needle.length, data.length - at);
  for (let index = 0; index < length; index += 1) if (data[at + index] !== needle[index]) return false;
  return true;
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
