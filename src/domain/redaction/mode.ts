/**
 * What the scanner is inside of: a token's body, a keyword's value, a private key. A mode sees text only (escape
 * sequences that merely colour are kept from it) and says of each byte whether it takes it.
 */

/** No rule holds more. */
export const HOLD_LIMIT = 32;
/** Nothing is held. */
export const NOTHING = Number.POSITIVE_INFINITY;

/**
 * `stay`: the byte was taken. `over`: the mode ended before this byte. `fail`: what is held is no secret after all;
 * the scanner looks at it again from `heldFrom`.
 */
export type Verdict = "stay" | "over" | "fail";

export type Mode = {
  /** Offset of the first byte that may not leave yet, or NOTHING. */
  readonly heldFrom: number;
  /** Undecided: a more specific prefix inside begins anew. */
  readonly yields: boolean;
  take(byte: number, at: number): Verdict;
  /** The cursor was moved or a string began: what follows does not continue what came. */
  cut(): Verdict;
  /** Nothing may stay held: what is undecided is masked, and so is what continues it. */
  settle(): void;
  /** The text is over: `fail` when what is held is no secret. */
  finish(): Verdict;
};

export type Mask = (at: number) => void;
