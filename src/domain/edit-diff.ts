/** What somebody changed in a command, line by line: what stands before and behind the change is the same in both. */
export type DiffLine = { readonly sign: " " | "-" | "+"; readonly text: string };

export function editDiff(before: string, after: string): readonly DiffLine[] {
  const old = before.split("\n");
  const now = after.split("\n");
  const shorter = Math.min(old.length, now.length);
  const head = countWhile(shorter, (at) => old[at] === now[at]);
  const tail = countWhile(shorter - head, (at) => old.at(-1 - at) === now.at(-1 - at));
  return [
    ...old.slice(0, head).map((text) => ({ sign: " ", text }) as const),
    ...old.slice(head, old.length - tail).map((text) => ({ sign: "-", text }) as const),
    ...now.slice(head, now.length - tail).map((text) => ({ sign: "+", text }) as const),
    ...now.slice(now.length - tail).map((text) => ({ sign: " ", text }) as const),
  ];
}

function countWhile(limit: number, holds: (at: number) => boolean): number {
  let count = 0;
  while (count < limit && holds(count)) count += 1;
  return count;
}
