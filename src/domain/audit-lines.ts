/** Checks a file of audit lines by itself: each line must follow from the one before it. Rule AUD-12. */
import { CHAIN_START, chainAfter, parseObject, type Sha256, splitLine } from "./audit-chain.ts";
import type { Finding } from "./audit-verify.ts";

export type LineEnd = {
  readonly sequence: number;
  readonly digest: string;
  readonly chain: string;
};

export class LineWalk {
  readonly #sha256: Sha256;
  #count = 0;
  #first: LineEnd | undefined;
  #last: LineEnd | undefined;
  #finding: Finding | undefined;

  constructor(sha256: Sha256) {
    this.#sha256 = sha256;
  }

  get count(): number {
    return this.#count;
  }

  get first(): LineEnd | undefined {
    return this.#first;
  }

  get last(): LineEnd | undefined {
    return this.#last;
  }

  /** The first line that is wrong. */
  get finding(): Finding | undefined {
    return this.#finding;
  }

  take(line: string): void {
    this.#count += 1;
    const read = this.#read(line);
    if (read === undefined) {
      this.#finding ??= this.#wrong(this.#last?.sequence ?? 0, "is not an audit line");
      return;
    }
    const { sequence, digest, chain, isFirst } = read;
    const previous = isFirst ? CHAIN_START : this.#last?.chain;
    if (previous !== undefined && chainAfter(previous, digest, this.#sha256) !== chain)
      this.#finding ??= this.#wrong(sequence, "does not follow the line before it: one was changed, removed or moved");
    this.#last = { sequence, digest, chain };
    this.#first ??= this.#last;
  }

  #read(line: string): (LineEnd & { readonly isFirst: boolean }) | undefined {
    const split = splitLine(line);
    if (split === undefined) return undefined;
    const { sequence, type, checkpoint } = parseObject(split.body);
    if (typeof sequence !== "number") return undefined;
    const isFirst = this.#last === undefined && type === "checkpoint" && checkpoint === 1;
    return { sequence, digest: this.#sha256(split.body), chain: split.chain, isFirst };
  }

  #wrong(sequence: number, what: string): Finding {
    return { kind: "line_differs", sequence, detail: `line ${this.#count} of the audit file ${what}` };
  }
}
