/**
 * Finds literals in a text that comes in pieces, wherever it is cut. Keeps no more of the past than a literal that has
 * begun may need. Rules WAI-7, WAI-18.
 */
export type LiteralHit = { readonly which: number; readonly begin: number; readonly end: number };

export class LiteralSearch {
  readonly #literals: readonly string[];
  readonly #reach: number;
  #tail = "";
  #length = 0;

  constructor(literals: readonly string[]) {
    this.#literals = literals;
    this.#reach = Math.max(0, ...literals.map((it) => it.length - 1));
  }

  /** Where the text begins that may still be needed. */
  get keptFrom(): number {
    return this.#length - this.#tail.length;
  }

  /** Takes the next piece. Answers the hit that ends first in it, the first of the list among equals. */
  next(piece: string): LiteralHit | undefined {
    let best: LiteralHit | undefined;
    this.#literals.forEach((literal, which) => {
      const begin = this.#find(literal, piece);
      if (begin === undefined) return;
      const end = begin + literal.length;
      if (best === undefined || end < best.end) best = { which, begin, end };
    });
    this.#length += piece.length;
    this.#tail = lastOf(piece.length >= this.#reach ? piece : this.#tail + piece, this.#reach);
    return best;
  }

  /** Where the longest beginning of a literal starts that stands at the text's end; the end itself if none does. */
  get partialFrom(): number {
    const longest = Math.max(0, ...this.#literals.map((it) => beginningAtEnd(it, this.#tail)));
    return this.#length - longest;
  }

  #find(literal: string, piece: string): number | undefined {
    const before = lastOf(this.#tail, literal.length - 1);
    const seam = (before + piece.slice(0, literal.length - 1)).indexOf(literal);
    if (seam >= 0) return this.#length - before.length + seam;
    const inside = piece.indexOf(literal);
    return inside < 0 ? undefined : this.#length + inside;
  }
}

function lastOf(text: string, count: number): string {
  return count > 0 ? text.slice(-count) : "";
}

/** Length of the longest proper beginning of `literal` with which `text` ends (Knuth, Morris, Pratt). */
function beginningAtEnd(literal: string, text: string): number {
  const borders = [0];
  const step = (from: number, unit: string): number => {
    let matched = from;
    while (matched > 0 && (matched === literal.length || literal[matched] !== unit)) matched = borders[matched - 1]!;
    return literal[matched] === unit ? matched + 1 : matched;
  };
  for (let at = 1; at < literal.length; at += 1) borders.push(step(borders[at - 1]!, literal[at]!));
  let matched = 0;
  for (const unit of lastOf(text, literal.length - 1).split("")) matched = step(matched, unit);
  return matched;
}
