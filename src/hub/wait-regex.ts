/** Tries of regexes on the windows of one wait. Rules WAI-9..WAI-13. */
import type { Tries } from "../domain/matching/line-windows.ts";
import { AppError } from "../protocol/errors.ts";
import type { PatternEngine } from "./wait-desk.ts";

export type Regex = { readonly which: number; readonly pattern: string; readonly crossesLines: boolean };

/** `at`: the character with which it was decided. All are indices of the text. */
export type Found = { readonly which: number; readonly begin: number; readonly end: number; readonly at: number };

type Ends = Extract<Tries, { kind: "lines" }>;

export async function compileRegex(which: number, pattern: string, engine: PatternEngine): Promise<Regex> {
  const { crossesLines } = await engine.compile(pattern).catch(refuse);
  return { which, pattern, crossesLines };
}

/** What was decided first; then what ends first; then the first of the list. */
export function earlier(one: Found | undefined, other: Found | undefined): Found | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return (one.at - other.at || one.end - other.end || one.which - other.which) <= 0 ? one : other;
}

export class RegexTries {
  readonly #engine: PatternEngine;
  readonly #text: (from: number, to: number) => string;

  constructor(engine: PatternEngine, text: (from: number, to: number) => string) {
    this.#engine = engine;
    this.#text = text;
  }

  /** The first of these tries that succeeds. None that would be decided after `last` matters. */
  async run(regex: Regex, tries: Tries, last = Number.POSITIVE_INFINITY): Promise<Found | undefined> {
    if (tries.kind === "lines") return this.#lines(regex, { ...tries, ends: tries.ends.filter((it) => it <= last) });
    if (tries.end > last) return undefined;
    const found = await this.end(regex, tries.window, tries.end);
    // What reaches a cut may go on behind it.
    return found !== undefined && found.end < tries.end ? found : undefined;
  }

  /** One try, at the end of `to`. */
  async end(regex: Regex, from: number, to: number): Promise<Found | undefined> {
    const range = await this.#engine.find(regex.pattern, this.#text(from, to), 0).catch(refuse);
    return range && { which: regex.which, begin: from + range[0], end: from + range[1], at: to };
  }

  async #lines(regex: Regex, { window, ends }: Ends): Promise<Found | undefined> {
    const last = ends.at(-1);
    if (last === undefined) return undefined;
    const found = await this.end(regex, window, last);
    if (found === undefined) return undefined;
    if (!regex.crossesLines) return { ...found, at: ends.find((it) => it >= found.end)! };
    return this.#firstEnd(regex, { kind: "lines", window, ends }, found);
  }

  /** A text that has a match has one too when lines follow it, so the first end can be searched by halves. */
  async #firstEnd(regex: Regex, { window, ends }: Ends, atLast: Found): Promise<Found> {
    let best = atLast;
    let low = 0;
    let high = ends.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const found = await this.end(regex, window, ends[middle]!);
      if (found === undefined) {
        low = middle + 1;
      } else {
        best = found;
        high = middle;
      }
    }
    return best;
  }
}

function refuse(error: unknown): never {
  if (!(error instanceof Error) || error.name !== "PatternRefused") throw error;
  throw new AppError("pattern_refused", { detail: `The pattern can't be used: ${error.message}` }, { cause: error });
}
