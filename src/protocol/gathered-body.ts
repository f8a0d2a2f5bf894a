/**
 * A body that comes in parts, bounded by what it costs to keep: a small part may lie in a large message, and empty ones
 * can be sent for ever. Rules RML-22, RML-23 in docs/spec/remote-hosts.md.
 */
import { PARTS_MAX } from "./link.ts";

/** Twice what whole bodies need in full parts. */
const COST_MAX = 2 * PARTS_MAX;
/** About what the least part costs beside its bytes. */
const PART_COST = 256;

export class GatheredBody {
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #cost = 0;
  #isTooLarge = false;

  add(part: Uint8Array): void {
    this.#bytes += part.length;
    // A part that is looked at only in part keeps all of the message that it came in.
    this.#cost += PART_COST + (part.length === 0 ? 0 : part.buffer.byteLength);
    if (this.#bytes > PARTS_MAX || this.#cost > COST_MAX) this.drop();
    else if (part.length > 0 && !this.#isTooLarge) this.#parts.push(part);
  }

  /** What it costs to keep it. */
  get cost(): number {
    return this.#isTooLarge ? 0 : this.#cost;
  }

  get isTooLarge(): boolean {
    return this.#isTooLarge;
  }

  /** Nothing of it is kept any more. */
  drop(): void {
    this.#isTooLarge = true;
    this.#parts = [];
  }

  whole(): Uint8Array {
    const [only, second] = this.#parts;
    if (only !== undefined && second === undefined) return only;
    const whole = new Uint8Array(this.#bytes);
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }
}
