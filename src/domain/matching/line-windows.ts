/**
 * Which text a regex sees. Output is divided into segments at fixed raw offsets; a try in one segment sees from the
 * first line that begins in the segment before (from that segment's begin when no line does). So the window of a try
 * follows from its offset alone, whatever the chunking and wherever the wait began, and is at most two segments long.
 * Inside a line that fills a whole segment there is a try at the segment's end, a cut, at which no line ends.
 * Rules WAI-10..WAI-12.
 */
import type { TextView } from "../text-view.ts";

/** Longest match that is promised to be found, in raw bytes. */
export const SEGMENT_BYTES = 16 * 1024;

/** Tries that share one window: at the ends of lines, or at a cut. */
export type Tries =
  | { readonly kind: "lines"; readonly window: number; readonly ends: readonly number[] }
  | { readonly kind: "cut"; readonly window: number; readonly end: number };

export class LineWindows {
  readonly #view: TextView;
  readonly #start: number;
  readonly #segmentBytes: number;
  /** First line that begins in a segment, by the segment's number. */
  readonly #firstLines = new Map<number, number>();
  /** Where the line begins that isn't over. */
  #line = 0;
  #nextCut: number;

  constructor(view: TextView, startCursor: number, segmentBytes = SEGMENT_BYTES) {
    this.#view = view;
    this.#start = startCursor;
    this.#segmentBytes = segmentBytes;
    this.#nextCut = (Math.floor(startCursor / segmentBytes) + 1) * segmentBytes;
  }

  get line(): number {
    return this.#line;
  }

  /** The tries that `text`, which was just added to the view and begins at `from`, makes possible, in order. */
  *add(text: string, from: number): Generator<Tries> {
    let ends: number[] = [];
    let cutAt = this.#cutIndex();
    for (let at = text.indexOf("\n"); ; at = text.indexOf("\n", at + 1)) {
      const end = at < 0 ? Number.POSITIVE_INFINITY : from + at;
      while (cutAt !== undefined && cutAt <= end) {
        yield* this.#lines(ends);
        ends = [];
        yield* this.#cut(cutAt);
        cutAt = this.#cutIndex();
      }
      if (at < 0) break;
      const cursor = this.#view.rawEnd(end);
      if (ends.length > 0 && this.#segment(cursor) !== this.#segment(this.#view.rawEnd(ends[0]!))) {
        yield* this.#lines(ends);
        ends = [];
      }
      ends.push(end);
    }
    yield* this.#lines(ends);
  }

  /** Begin of the window of a try at a raw offset. */
  windowAt(cursor: number): number {
    const segment = this.#segment(cursor) - 1;
    const begin = segment * this.#segmentBytes;
    return this.#start >= begin ? 0 : (this.#firstLines.get(segment) ?? this.#view.indexAtOrAfter(begin));
  }

  /** Raw offset from which a new wait has the same windows for every try at or after `cursor`. */
  resumeAt(cursor: number): number {
    const segment = this.#segment(cursor) - 1;
    if (this.#start >= segment * this.#segmentBytes) return this.#start;
    const line = this.#firstLines.get(segment);
    if (line !== undefined) return this.#view.rawEnd(line - 1);
    // Where a line was cut, its rest must begin in that segment: before it, the wait would cut the line once more.
    const index = this.windowAt(cursor);
    const begin = this.#view.rawBegin(index);
    if (this.#segment(begin) === segment) return begin;
    return index === 0 ? this.#start : this.#view.rawEnd(index - 1);
  }

  /** Forgets what only tries before `cursor` need. */
  drop(cursor: number): void {
    const oldest = this.#segment(cursor) - 1;
    for (const segment of this.#firstLines.keys()) {
      if (segment >= oldest) return;
      this.#firstLines.delete(segment);
    }
  }

  *#lines(ends: readonly number[]): Generator<Tries> {
    if (ends.length === 0) return;
    yield { kind: "lines", window: this.windowAt(this.#view.rawEnd(ends[0]!)), ends };
    for (const end of ends) this.#begun(end);
  }

  #begun(newline: number): void {
    this.#line = newline + 1;
    const segment = this.#segment(this.#view.rawEnd(newline));
    if (!this.#firstLines.has(segment)) this.#firstLines.set(segment, newline + 1);
  }

  *#cut(end: number): Generator<Tries> {
    const segment = this.#segment(this.#nextCut) - 1;
    const filled = this.#start < segment * this.#segmentBytes && !this.#firstLines.has(segment);
    if (filled) yield { kind: "cut", window: this.windowAt(this.#nextCut - 1), end };
    this.#nextCut += this.#segmentBytes;
  }

  /** Index of the first unit behind the next cut, if there is one. */
  #cutIndex(): number | undefined {
    const index = this.#view.indexAtOrAfter(this.#nextCut);
    return index < this.#view.length ? index : undefined;
  }

  #segment(cursor: number): number {
    return Math.floor(cursor / this.#segmentBytes);
  }
}
