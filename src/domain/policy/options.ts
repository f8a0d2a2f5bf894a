/** Options as programs read them: shortened, bundled, and in front of a command that another program runs. */
import { literalWord, textOf, type Word } from "./words.ts";

/**
 * What a program's options take: a value, one that may be left out and so is never the next word, or none. `-#` are
 * digits. An option of none of them may have taken the next word: what follows it isn't known.
 */
export type Kinds = { readonly valued?: string; readonly attached?: string; readonly flags?: string };

export type Before = {
  /** In full, bundles taken apart. */
  readonly options: readonly string[];
  readonly values: readonly { readonly option: string; readonly value: Word }[];
  /** From the first word that is no option. */
  readonly rest: readonly Word[];
  readonly isUnclear: boolean;
};

type Kind = keyof Kinds;
type Table = { readonly kinds: ReadonlyMap<string, Kind>; readonly longNames: readonly string[] };
type Read = { readonly option: string; readonly kind: Kind | undefined; readonly value?: string };

const TABLES = new WeakMap<Kinds, Table>();
const NONE: Kinds = {};

/** `isPermuted`: options may also stand between and behind the other words. */
export function afterOptions(words: readonly Word[], kinds: Kinds = NONE, isPermuted = false): Before {
  const table = tableOf(kinds);
  const options: string[] = [];
  const values: { option: string; value: Word }[] = [];
  const operands: Word[] = [];
  let isUnclear = false;
  let at = 0;
  while (at < words.length) {
    const word = words[at]!;
    const text = textOf(word) ?? word.prefix;
    if (!text.startsWith("-") || (text === "-" && !table.kinds.has("-"))) {
      if (!isPermuted) break;
      operands.push(word);
      at += 1;
      continue;
    }
    at += 1;
    if (text === "--") break;
    if (textOf(word) === undefined) isUnclear = true;
    const found = optionsIn(text, table);
    const takesNext = found.some(({ kind, value }) => kind === "valued" && value === undefined);
    const next = takesNext ? words[at] : undefined;
    if (next !== undefined) at += 1;
    if (next !== undefined && !next.isOne && next.values === undefined) isUnclear = true;
    for (const { option, kind, value } of found) {
      options.push(option);
      if (kind === undefined || (takesNext && text.startsWith("--") && kind !== "valued")) isUnclear = true;
      const given = value === undefined ? (kind === "valued" ? next : undefined) : literalWord(value);
      if (given !== undefined) values.push({ option, value: given });
    }
  }
  return { options, values, rest: [...operands, ...words.slice(at)], isUnclear };
}

function tableOf(kinds: Kinds): Table {
  const known = TABLES.get(kinds);
  if (known !== undefined) return known;
  const names = new Map<string, Kind>();
  for (const kind of ["valued", "attached", "flags"] as const) {
    for (const name of kinds[kind]?.split(" ") ?? []) names.set(name, kind);
  }
  const table = { kinds: names, longNames: [...names.keys()].filter((name) => name.startsWith("--")) };
  TABLES.set(kinds, table);
  return table;
}

function optionsIn(text: string, { kinds, longNames }: Table): readonly Read[] {
  if (kinds.has(text)) return [{ option: text, kind: kinds.get(text) }];
  if (text.startsWith("--")) {
    const [name = "", ...rest] = text.split("=");
    const value = rest.length === 0 ? {} : { value: rest.join("=") };
    const names = kinds.has(name) ? [name] : standsFor(name, longNames);
    return names.map((option) => ({ option, kind: kinds.get(option), ...value }));
  }
  const found: Read[] = [];
  for (let at = 1; at < text.length; at += 1) {
    const option = `-${text[at]}`;
    const kind = kinds.get(option) ?? (/\d/.test(option) ? kinds.get("-#") : undefined);
    const rest = text.slice(at + 1);
    const isTaken = rest !== "" && (kind === "valued" || kind === "attached");
    found.push(isTaken ? { option, kind, value: rest } : { option, kind });
    // Behind one that isn't known its value may begin.
    if (isTaken || kind === undefined) break;
  }
  return found;
}

/** What a long option may stand for: programs take any beginning of a name. Itself, where no name begins so. */
export function standsFor(typed: string, longNames: readonly string[]): readonly string[] {
  if (typed.length < 3 || !typed.startsWith("--")) return [typed];
  const names = longNames.filter((name) => name.startsWith(typed));
  return names.length === 0 ? [typed] : names;
}
