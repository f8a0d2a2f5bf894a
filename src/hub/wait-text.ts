/**
 * The conditions of one wait that look at text. A literal is decided when its last character is there; a regex at the
 * tries of its windows: ends of lines, cuts of long lines, quiet points. Of hits that are decided at the same
 * character, the one that ends first wins. Rules WAI-7..WAI-13, WAI-18.
 */
import { LineWindows, type Tries } from "../domain/matching/line-windows.ts";
import { LiteralSearch } from "../domain/matching/literal-search.ts";
import { TextView, type UnitsToText } from "../domain/text-view.ts";
import type { PatternEngine, WaitRequest } from "./wait-desk.ts";
import { compileRegex, earlier, type Found, type Regex, RegexTries } from "./wait-regex.ts";

/** Raw offsets. */
export type TextHit = { readonly which: number; readonly text: string; readonly begin: number; readonly end: number };

const PIECE = 64 * 1024;

export class TextWatch {
  readonly #start: number;
  readonly #literals: readonly { readonly which: number; readonly literal: string }[];
  readonly #search: LiteralSearch;
  readonly #regexes: readonly Regex[];
  readonly #view: TextView;
  readonly #windows: LineWindows;
  readonly #tries: RegexTries;
  /** The text from `#keptFrom` on. */
  #kept = "";
  #keptFrom = 0;
  /** The last try at a quiet point. */
  #tried = { window: -1, end: -1 };

  private constructor(request: WaitRequest, regexes: readonly Regex[], engine: PatternEngine, segmentBytes?: number) {
    this.#start = request.fromCursor;
    this.#regexes = regexes;
    this.#literals = request.conditions.flatMap((it, which) =>
      it.type === "substring" ? [{ which, literal: it.match.replaceAll(/\r\n?/g, "\n") }] : [],
    );
    this.#search = new LiteralSearch(this.#literals.map((it) => it.literal));
    this.#view = new TextView(request.fromCursor, unitsToText);
    this.#windows = new LineWindows(this.#view, request.fromCursor, segmentBytes);
    this.#tries = new RegexTries(engine, (from, to) => this.#textBetween(from, to));
  }

  /** Undefined when no condition looks at text. Throws `pattern_refused`. */
  static async open(
    request: WaitRequest,
    engine: PatternEngine,
    segmentBytes: number | undefined,
  ): Promise<TextWatch | undefined> {
    if (!request.conditions.some((it) => it.type === "substring" || it.type === "regex")) return undefined;
    const regexes: Regex[] = [];
    for (const [which, condition] of request.conditions.entries()) {
      if (condition.type === "regex") regexes.push(await compileRegex(which, condition.match, engine));
    }
    return new TextWatch(request, regexes, engine, segmentBytes);
  }

  async push(bytes: Uint8Array): Promise<TextHit | undefined> {
    for (let at = 0; at < bytes.length; at += PIECE) {
      const hit = await this.#piece(bytes.subarray(at, at + PIECE));
      if (hit !== undefined) return hit;
    }
    return undefined;
  }

  /** At a quiet point, where the end of the text is the end of a line. */
  async quiet(cursor: number): Promise<TextHit | undefined> {
    if (this.#regexes.length === 0) return undefined;
    const window = this.#windows.windowAt(cursor);
    const end = this.#view.length;
    if (this.#tried.window === window && this.#tried.end === end) return undefined;
    this.#tried = { window, end };
    let best: Found | undefined;
    for (const regex of this.#regexes) {
      const from = regex.crossesLines ? window : Math.max(window, this.#windows.line);
      best = earlier(best, await this.#tries.end(regex, from, end));
    }
    return best && this.#hit(best);
  }

  /** From here a wait with the same conditions goes on as this one would. */
  get resumeCursor(): number {
    const { length } = this.#view;
    if (length === 0) return this.#regexes.length > 0 ? this.#start : this.#view.settledCursor;
    const partial = this.#search.partialFrom;
    if (this.#regexes.length > 0) return this.#lineResume(Math.min(partial, length - 1), partial);
    return partial < length ? this.#view.rawBegin(partial) : this.#view.settledCursor;
  }

  /** Regexes need whole lines, or whole windows if they cross lines: `^` must not match where a wait was resumed. */
  #lineResume(last: number, partial: number): number {
    const cursor = this.#view.rawBegin(last);
    const newline = partial > this.#keptFrom ? this.#kept.lastIndexOf("\n", partial - 1 - this.#keptFrom) : -1;
    const line = newline + 1 + this.#keptFrom;
    const byLine =
      newline >= 0 && this.#regexes.every((it) => !it.crossesLines) && line > this.#windows.windowAt(cursor);
    return byLine ? this.#view.rawEnd(line - 1) : this.#windows.resumeAt(cursor);
  }

  async #piece(bytes: Uint8Array): Promise<TextHit | undefined> {
    const from = this.#view.length;
    const text = this.#view.push(bytes);
    const literal = this.#search.next(text);
    let best: Found | undefined = literal && { ...literal, ...this.#literals[literal.which]!, at: literal.end - 1 };
    if (this.#regexes.length > 0) {
      this.#kept += text;
      best = await this.#try(this.#windows.add(text, from), best);
    }
    if (best !== undefined) return this.#hit(best);
    this.#forget();
    return undefined;
  }

  async #try(all: Iterable<Tries>, literal: Found | undefined): Promise<Found | undefined> {
    for (const tries of all) {
      let best = literal;
      for (const regex of this.#regexes) {
        const window = regex.crossesLines ? tries.window : Math.max(tries.window, this.#windows.line);
        const found = await this.#tries.run(regex, { ...tries, window }, best?.at);
        best = earlier(best, found);
      }
      if (best !== undefined && best !== literal) return best;
    }
    return literal;
  }

  #hit({ which, begin, end }: Found): TextHit {
    const literal = this.#literals.find((it) => it.which === which)?.literal;
    const text = literal ?? this.#textBetween(begin, end);
    const after = end === 0 ? this.#start : this.#view.rawEnd(end - 1);
    return { which, text, begin: begin === end ? after : this.#view.rawBegin(begin), end: after };
  }

  #textBetween(begin: number, end: number): string {
    return this.#kept.slice(begin - this.#keptFrom, end - this.#keptFrom);
  }

  #forget(): void {
    const { length } = this.#view;
    if (length === 0) return;
    let keep = this.#search.keptFrom;
    if (this.#regexes.length > 0) {
      const cursor = this.#view.rawBegin(Math.min(keep, length - 1));
      keep = this.#windows.windowAt(cursor);
      this.#windows.drop(cursor);
      this.#kept = this.#kept.slice(keep - this.#keptFrom);
      this.#keptFrom = keep;
    }
    this.#view.drop(Math.max(0, keep - 1));
  }
}

const narrow = Buffer.alloc(PIECE);

const unitsToText: UnitsToText = (units, length, { ascii }) => {
  if (!ascii) return Buffer.from(units.buffer, units.byteOffset, length * 2).toString("utf16le");
  narrow.set(units.subarray(0, length));
  return narrow.toString("latin1", 0, length);
};
