/** Builtins that take the name of a variable and compute its index: `a[$(id)]` in a variable runs id. Rule POL-4. */
import { textOf, type Word } from "./words.ts";

/** A name in which nothing is computed: `x`, `"x"`, `a[0]`, `a[@]`. */
const PLAIN_NAME = /^(["']?)\w+(?:\[(?:\d+|[@*])\])?\1$/;
/** The shell's own numbers: they hold no operator. */
const NUMBER = /^\$(?:[#?$!]|\{[#?$!]\}|\{#\w+\}|\(\()/;

/** As it stands in the text. */
export function isPlainName(source: string): boolean {
  return PLAIN_NAME.test(source);
}

/** Whether such a builtin may be given a name that nobody knows. */
export function computesNames(program: string, words: readonly Word[]): boolean {
  switch (program) {
    case "test":
    case "[":
      return words.some((word, at) => {
        // Unquoted it may become an operator and its name.
        if (word.values === undefined && !word.isOne) return !NUMBER.test(word.source);
        return mayBe(word, /^-[vR]$/) && mayBeAnyName(words[at + 1]);
      });
    case "wait":
      return words.some((word, at) => mayBe(word, /^-\w*p/) && mayBeAnyName(words[at + 1]));
    default:
      return false;
  }
}

function mayBe(word: Word, operator: RegExp): boolean {
  const text = textOf(word);
  return text === undefined ? word.values === undefined && word.prefix === "" : operator.test(text);
}

function mayBeAnyName(word: Word | undefined): boolean {
  const text = textOf(word);
  return word !== undefined && (text === undefined || (text.includes("[") && !isPlainName(text)));
}
