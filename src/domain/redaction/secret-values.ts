/**
 * What a person typed at a secret prompt, masked by its value wherever it is echoed. A value is looked for in the
 * next 4 KB only: for longer it would be an oracle that tells whether a guess was right.
 */
import { CR, ESC, LF } from "./byte-class.ts";
import { HOLD_LIMIT, NOTHING, type Mask } from "./mode.ts";
import type { Window } from "./window.ts";

/** Bytes of output in which a value is looked for. */
const REACH = 4096;
/** A shorter value would mask ordinary letters, and so tell what it is. */
const SHORTEST = 4;

const CSI_BEGIN = 0x5b;

type Expected = { readonly value: Uint8Array; readonly until: number };
/** A place where a value may be standing: so many of its bytes did. */
type Echo = { readonly value: Uint8Array; readonly from: number; matched: number; masked: number };

export class SecretValues {
  readonly #window: Window;
  readonly #mask: Mask;
  #expected: readonly Expected[] = [];
  #echoes: Echo[] = [];
  #next = 0;
  /** Where the next byte stands: in text, behind ESC, or in what `ESC [` begins. */
  #escape: "none" | "begun" | "csi" = "none";

  constructor(window: Window, mask: Mask) {
    this.#window = window;
    this.#mask = mask;
  }

  /** Offset of the first byte that may not leave yet, or NOTHING. */
  get heldFrom(): number {
    return this.#echoes.reduce((least, { from, masked }) => Math.min(least, from + masked), NOTHING);
  }

  /** From the present end of the window on. */
  expect(typed: Uint8Array): void {
    let length = typed.length;
    while (length > 0 && (typed[length - 1] === CR || typed[length - 1] === LF)) length -= 1;
    if (length < SHORTEST) return;
    if (this.#expected.length === 0 && this.#echoes.length === 0) this.#next = this.#window.end;
    this.#expected = [...this.#expected, { value: typed.slice(0, length), until: this.#window.end + REACH }];
  }

  /** What stands half there is masked all the same. */
  forget(): void {
    this.settle();
    this.#expected = [];
    this.#echoes = [];
  }

  /** Looks at what was added to the window. */
  scan(): void {
    if (this.#expected.length === 0 && this.#echoes.length === 0) return;
    for (; this.#next < this.#window.end; this.#next += 1) this.#take(this.#window.at(this.#next));
    this.#expected = this.#expected.filter(({ until }) => until > this.#next);
  }

  /** Nothing is held any longer: what may be an echo is masked, and so is what continues it. */
  settle(): void {
    for (const echo of this.#echoes) this.#maskMatched(echo);
  }

  #take(byte: number): void {
    const at = this.#next;
    const isShown = this.#passEscape(byte);
    for (const { value, until } of this.#expected) {
      if (isShown && at < until && value[0] === byte) this.#echoes.push({ value, from: at, matched: 0, masked: 0 });
    }
    this.#echoes = this.#echoes.filter((echo) => this.#goesOn(echo, byte));
  }

  /** False for a byte that commands the terminal: masked, it would command something else. */
  #passEscape(byte: number): boolean {
    const before = this.#escape;
    if (byte === ESC) this.#escape = "begun";
    else if (before === "begun") this.#escape = byte === CSI_BEGIN ? "csi" : "none";
    else if (before === "csi" && byte >= 0x40) this.#escape = "none";
    return before === "none";
  }

  #goesOn(echo: Echo, byte: number): boolean {
    if (echo.value[echo.matched] !== byte) return false;
    echo.matched += 1;
    const whole = echo.matched === echo.value.length;
    // Masked half way by quiet or by its length, the rest is masked as it comes.
    if (whole || echo.masked > 0 || echo.matched >= HOLD_LIMIT) this.#maskMatched(echo);
    return !whole;
  }

  #maskMatched(echo: Echo): void {
    for (; echo.masked < echo.matched; echo.masked += 1) this.#mask(echo.from + echo.masked);
  }
}
