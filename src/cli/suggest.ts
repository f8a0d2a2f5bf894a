/** The name that was probably meant, if one is near. */
export function suggest(typed: string, names: readonly string[]): string | undefined {
  const near = names
    .map((name) => ({ name, distance: name.startsWith(typed) ? 1 : distance(typed, name) }))
    .filter(({ distance }) => distance <= Math.max(1, Math.floor(typed.length / 3)))
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.name;
}

/** Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other. */
function distance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const swapped =
        i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1] ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[to.length] ?? Infinity;
}
