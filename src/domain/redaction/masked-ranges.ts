/** Which bytes are masked, as ranges [from, to) of offsets: in order, merged, whatever order they were found in. */
export type Range = readonly [from: number, to: number];

export class MaskedRanges {
  #ranges: Range[] = [];

  add(at: number): void {
    const last = this.#ranges.at(-1);
    if (last === undefined || at > last[1]) this.#ranges.push([at, at + 1]);
    else if (at === last[1]) this.#ranges[this.#ranges.length - 1] = [last[0], at + 1];
    else if (at < last[0]) this.#ranges = merged([...this.#ranges, [at, at + 1]]);
  }

  /** Removes and answers what lies before `end`. */
  takeBefore(end: number): readonly Range[] {
    if (this.#ranges.length === 0) return [];
    const taken = this.#ranges.filter(([from]) => from < end).map(([from, to]): Range => [from, Math.min(to, end)]);
    this.#ranges = this.#ranges.filter(([, to]) => to > end).map(([from, to]) => [Math.max(from, end), to]);
    return taken;
  }
}

export function merged(ranges: readonly Range[]): Range[] {
  const result: Range[] = [];
  for (const [from, to] of ranges.toSorted((one, other) => one[0] - other[0])) {
    const last = result.at(-1);
    if (last === undefined || from > last[1]) result.push([from, to]);
    else result[result.length - 1] = [last[0], Math.max(last[1], to)];
  }
  return result;
}
