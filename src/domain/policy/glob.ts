/** Globs of paths: `*` and `?` within a segment, `**` over any number of them. Linear for what people write, never exponential. */
export function globMatches(pattern: string, path: string): boolean {
  return segmentsMatch(pattern.split("/"), path.split("/"));
}

function segmentsMatch(patterns: readonly string[], segments: readonly string[]): boolean {
  return wildMatches(patterns, segments, {
    isAny: (pattern) => pattern === "**",
    isOne: (pattern, segment) => segmentMatches(pattern, segment),
  });
}

/** As a shell does, a wildcard at the beginning doesn't match a dot. */
export function nameMatches(pattern: string, name: string): boolean {
  return (!name.startsWith(".") || pattern.startsWith(".")) && segmentMatches(pattern, name);
}

function segmentMatches(pattern: string, segment: string): boolean {
  return wildMatches(Array.from(pattern), Array.from(segment), {
    isAny: (letter) => letter === "*",
    isOne: (letter, given) => letter === "?" || letter === given,
  });
}

type Wild<T> = { readonly isAny: (pattern: T) => boolean; readonly isOne: (pattern: T, given: T) => boolean };

/** Going back only to the last wildcard is enough: an earlier one could match no more than the later one can. */
function wildMatches<T>(patterns: readonly T[], given: readonly T[], { isAny, isOne }: Wild<T>): boolean {
  let [p, g] = [0, 0];
  let back: { p: number; g: number } | undefined;
  while (g < given.length) {
    const pattern = patterns[p];
    if (p < patterns.length && isAny(pattern as T)) {
      back = { p: p + 1, g };
      p += 1;
    } else if (p < patterns.length && isOne(pattern as T, given[g] as T)) {
      p += 1;
      g += 1;
    } else if (back === undefined) {
      return false;
    } else {
      back.g += 1;
      ({ p, g } = back);
    }
  }
  return patterns.slice(p).every((pattern) => isAny(pattern));
}
