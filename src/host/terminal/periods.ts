/** Times by `bootTimeMs`, oldest first. */
import type { Period } from "./stop-order.ts";

/**
 * At most `most` of them. None is forgotten: what was started in it could not be told from a person's any more. The two
 * with the least time between them become one, and what is in doubt is the agent's.
 */
export function bounded(periods: readonly Period[], most: number): readonly Period[] {
  if (periods.length <= most) return periods;
  let [at, least] = [1, Infinity];
  for (let index = 1; index < periods.length; index += 1) {
    const between = periods[index]!.from - (periods[index - 1]!.to ?? Infinity);
    if (between < least) [at, least] = [index, between];
  }
  const { to } = periods[at]!;
  const joined = { from: periods[at - 1]!.from, ...(to === undefined ? {} : { to }) };
  return bounded([...periods.slice(0, at - 1), joined, ...periods.slice(at + 1)], most);
}

/** The kernel notes a beginning up to 10 ms too early; what is in doubt is the agent's. */
export function holds({ from, to = Infinity }: Period, startedAt: number): boolean {
  return startedAt + TICK_MS > from && startedAt <= to;
}

const TICK_MS = 10;
