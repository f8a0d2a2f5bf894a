/** Braces of a word, expanded as bash does before anything else; absent where they hold more than plain text. */
import type { ShellWordPart } from "./shell-tree.ts";

const PLAIN_LIST = /^\{([^{}"'\\$`*?[\]~]*,[^{}"'\\$`*?[\]~]*)\}$/;
const SEQUENCE = /^\{(-?\d{1,4})\.\.(-?\d{1,4})\}$/;
const WORDS_MAX = 256;

export function bracesOf(parts: readonly ShellWordPart[]): readonly (readonly ShellWordPart[])[] | undefined {
  let words: readonly (readonly ShellWordPart[])[] = [[]];
  for (const part of parts) {
    const choices = part.type === "BraceExpansion" ? choicesOf(part.text) : undefined;
    if (part.type === "BraceExpansion" && choices === undefined) return undefined;
    const pieces = choices?.map((value): ShellWordPart => ({ type: "Literal", value, text: value })) ?? [part];
    if (words.length * pieces.length > WORDS_MAX) return undefined;
    words = words.flatMap((word) => pieces.map((piece) => [...word, piece]));
  }
  return words;
}

function choicesOf(text: string): readonly string[] | undefined {
  const list = PLAIN_LIST.exec(text)?.[1];
  if (list !== undefined) return list.split(",");
  const [, from, to] = SEQUENCE.exec(text) ?? [];
  if (from === undefined || to === undefined || /^-?0\d/.test(from) || /^-?0\d/.test(to)) return undefined;
  const [first, last] = [Number(from), Number(to)];
  if (Math.abs(last - first) >= WORDS_MAX) return undefined;
  const step = last < first ? -1 : 1;
  return Array.from({ length: Math.abs(last - first) + 1 }, (_, index) => String(first + index * step));
}
