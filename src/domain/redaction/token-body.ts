/**
 * The body of a token: held until it is long enough to be one, then masked to its end. A line break inside is passed
 * over while the token is shorter than its kind is known to be.
 */
import { belongs, byteClass, CR, LF, SPACE } from "./byte-class.ts";
import { NOTHING, type Mask, type Mode, type Verdict } from "./mode.ts";
import { EMPTY_BODY, observe, type BodySoFar, type TokenKind } from "./token-kinds.ts";

/** Controls but tab, backspace, line ends and escape. */
const INVISIBLE = byteClass("\u0000-\u0007", "\u000e-\u001a", "\u001c-\u001f");

export class TokenBody implements Mode {
  readonly #kind: TokenKind;
  readonly #mask: Mask;
  #rest: string;
  #held: number[] = [];
  #seen: BodySoFar = EMPTY_BODY;
  #count = 0;
  #masking = false;
  #gap: "none" | "space" | "return" | "line" = "none";

  constructor(kind: TokenKind, mask: Mask) {
    this.#kind = kind;
    this.#mask = mask;
    this.#rest = kind.rest ?? "";
  }

  get heldFrom(): number {
    return this.#held[0] ?? NOTHING;
  }

  get yields(): boolean {
    return !this.#masking;
  }

  take(byte: number, at: number): Verdict {
    // Shown by no terminal, so it hides nothing from a reader either.
    if (belongs(INVISIBLE, byte)) return "stay";
    if (this.#rest !== "") return this.#public(byte);
    if (this.#count === 0 && this.#kind.lead?.[byte] === 1) return "stay";
    if (byte === this.#kind.closing) return this.#close();
    if (byte === LF || byte === CR || byte === SPACE) return this.#pause(byte);
    if (this.#gap === "space" || !belongs(this.#kind.body, byte)) return this.#end();
    this.#gap = "none";
    this.#count += 1;
    if (this.#masking) {
      this.#mask(at);
      return "stay";
    }
    this.#held.push(at);
    this.#seen = observe(this.#seen, byte);
    const judgement = this.#kind.judge(this.#seen);
    if (judgement === "secret") this.#maskAll();
    return judgement === "harmless" ? "fail" : "stay";
  }

  cut(): Verdict {
    return this.#end();
  }

  settle(): void {
    if (this.#kind.harmlessAtRest?.(this.#seen) === true) this.#held = [];
    else this.#maskAll();
  }

  finish(): Verdict {
    return this.#end();
  }

  #public(byte: number): Verdict {
    if (this.#rest.charCodeAt(0) !== byte) return "fail";
    this.#rest = this.#rest.slice(1);
    return "stay";
  }

  #close(): Verdict {
    if (this.#count > 0) this.#maskAll();
    return "over";
  }

  /** A break at the right margin is `\n`, `\r\n` or, as readline writes it, a space and a `\r`. */
  #pause(byte: number): Verdict {
    if (this.#count >= this.#kind.full) return this.#end();
    const gap = this.#gap;
    if (byte === SPACE) this.#gap = "space";
    else this.#gap = byte === LF || gap === "space" ? "line" : "return";
    return gap === "line" || (gap !== "none" && byte === SPACE) || (gap === "space" && byte === LF)
      ? this.#end()
      : "stay";
  }

  #end(): Verdict {
    return this.#masking ? "over" : "fail";
  }

  #maskAll(): void {
    for (const at of this.#held) this.#mask(at);
    this.#held = [];
    this.#masking = true;
  }
}
