/**
 * Who gives up how much when together they hold too much: always the one that holds the most. So a flood pays for
 * itself, and whoever holds little loses nothing. Rule LOG-9.
 */
export function cutsOf(held: ReadonlyMap<number, number>, limit: number): Map<number, number> {
  const share = shareOf([...held.values()], limit);
  return new Map([...held].flatMap(([key, bytes]) => (bytes > share ? [[key, bytes - share] as const] : [])));
}

/** What each may hold at most, so that all fits. */
function shareOf(held: readonly number[], limit: number): number {
  let left = limit;
  for (const [index, bytes] of held.toSorted((a, b) => a - b).entries()) {
    const share = left / (held.length - index);
    if (bytes > share) return Math.max(0, share);
    left -= bytes;
  }
  return Number.POSITIVE_INFINITY;
}
