/** What a known program does by its words, as data, and how its words are read by that. */
import type { Findings, How } from "./findings.ts";
import { standsFor } from "./options.ts";
import type { Effect } from "./verdict.ts";
import { textOf, type Value, type Word } from "./words.ts";

/**
 * `value`: it takes one that means nothing to us; a `How`: its value is a path; effects: it has them, and takes no value
 * unless they stand in `takes`. `attached`: its value may be left out, so it is never the next word (`-i.bak`, `--color=auto`).
 */
export type OptionMeaning =
  | "value"
  | How
  | readonly Effect[]
  | { readonly takes: readonly Effect[] }
  | { readonly attached: "value" | How };

/** What the words are that aren't options. */
export type Operands =
  | How
  /** The last is written, the others are read; or deleted, where they are moved. */
  | "copy"
  | "move"
  /** The first isn't a path. */
  | "after_first_read"
  | "after_first_write";

export type Program = {
  /** Absent: `read`. */
  readonly effects?: readonly Effect[];
  readonly operands?: Operands;
  /** `-o --output`: several names for one. */
  readonly options?: Readonly<Record<string, OptionMeaning>>;
  /** No word can make it do more. */
  readonly any?: true;
  /** Options are words with one dash: `-name`. */
  readonly isSingleDash?: true;
  /** By the first word that isn't an option: `add|commit`. */
  readonly subcommands?: Readonly<Record<string, Program>>;
  /** For other subcommands, and none. Absent: `unknown_program`. */
  readonly otherwise?: Program;
  /** With these, or always, everything below is touched too. */
  readonly deep?: true | readonly string[];
  /** Words as the program itself reads them, where that isn't as others do. */
  readonly rewrite?: (words: readonly Word[]) => readonly Word[];
  readonly more?: (given: Given, findings: Findings) => void;
};

/** `name`: in full, as in the program's table, however it was typed. */
export type Option = { readonly name: string; readonly value?: Word | undefined };

export type Given = {
  readonly options: readonly Option[];
  readonly operands: readonly Word[];
  /** Data comes from a pipe, from the text itself, or not at all. */
  readonly stdin: Stdin;
};

export type Stdin =
  | { readonly kind: "none" | "file" }
  /** `names`: where the files are that the program before it names. */
  | { readonly kind: "pipe"; readonly names?: readonly Word[] | undefined }
  | { readonly kind: "text"; readonly text: string | undefined };

type Reading = { readonly given: Given; readonly isUnclear: boolean };

/** Notes everything that the program does with these words. */
export function study(program: Program, words: readonly Word[], context: { findings: Findings; stdin: Stdin }): void {
  const { findings, stdin } = context;
  if (program.subcommands !== undefined) return studySubcommand(program, words, context);
  const { given, isUnclear } = readWords(program, program.rewrite?.(words) ?? words, { findings, stdin });
  findings.add(...(program.effects ?? ["read"]));
  findings.words.push(...given.operands.map(textOf));
  if (isUnclear && program.any !== true) findings.add("unclear");
  touchOperands(program, given, findings);
  program.more?.(given, findings);
}

function studySubcommand(
  program: Program,
  typed: readonly Word[],
  context: { findings: Findings; stdin: Stdin },
): void {
  const { findings } = context;
  const words = program.rewrite?.(typed) ?? typed;
  const { at, isDoubtful } = subcommandAt(program, words);
  const { isUnclear, given } = readWords(program, words.slice(0, at), context);
  if (isUnclear || (isDoubtful && at < words.length)) findings.add("unclear");
  program.more?.(given, findings);
  const name = textOf(words[at]);
  findings.words.push(...(at < words.length ? [name] : []));
  if (at < words.length && name === undefined) return findings.add("unclear");
  const found = Object.entries(program.subcommands ?? {}).find(([names]) => names.split("|").includes(name ?? ""))?.[1];
  const next = found ?? program.otherwise ?? UNKNOWN_SUBCOMMAND;
  study(next, words.slice(at + 1), context);
}

const UNKNOWN_SUBCOMMAND: Program = { effects: ["unknown_program"] };

/** Options that take no value, whatever the program. */
const PLAIN_OPTION = /^-(?:[hqvVy]|-help|-version|-verbose|-quiet|-silent|-debug|-no-.+)$/;

/** `isDoubtful`: behind an option that isn't known, so that it may be its value: `kubectl --user get delete pod x`. */
function subcommandAt(program: Program, words: readonly Word[]): { readonly at: number; readonly isDoubtful: boolean } {
  const { meanings } = tableOf(program);
  let isDoubtful = false;
  let at = 0;
  while (at < words.length) {
    const text = textOf(words[at]);
    if (text === undefined || !text.startsWith("-")) break;
    const found = optionsIn(words[at]!, program);
    isDoubtful =
      !text.includes("=") &&
      found.some(({ names }) => names.some((name) => !meanings.has(name) && !PLAIN_OPTION.test(name)));
    at += found.some(({ takesNext }) => takesNext) ? 2 : 1;
  }
  return { at, isDoubtful };
}

function readWords(
  program: Program,
  words: readonly Word[],
  { findings, stdin }: { findings: Findings; stdin: Stdin },
): Reading {
  const options: Option[] = [];
  const operands: Word[] = [];
  let isUnclear = false;
  let isOver = false;
  const table = tableOf(program);
  const take = (name: string, value: Word | undefined): void => {
    options.push({ name, value });
    const meaning = table.meanings.get(name);
    if (value !== undefined && !HARMLESS_VALUE.test(name)) findings.suspect(value);
    if (meaning === undefined && STEERS.test(name)) isUnclear = true;
    if (meaning === undefined) return;
    if (!note(meaning, value, findings)) isUnclear = true;
  };
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    const kind = isOver ? "operand" : kindOf(word, program);
    if (kind === "unclear") isUnclear = true;
    if (kind === "end") isOver = true;
    if (kind === "operand" || kind === "unclear") operands.push(word);
    if (kind !== "option") continue;
    findings.options.push(textOf(word) ?? word.prefix);
    for (const { names, value, takesNext, isShortened } of optionsIn(word, program)) {
      const next = takesNext ? words[at + 1] : undefined;
      if (next !== undefined) at += 1;
      if (next !== undefined && !next.isOne && next.values === undefined) isUnclear = true;
      // Tables aren't complete: it may be short for an option that takes no value, and this an operand.
      if (next !== undefined && isShortened) isUnclear = true;
      for (const name of names) take(name, value ?? next);
    }
  }
  return { given: { options, operands, stdin }, isUnclear };
}

/** Words about files, not their names. */
const HARMLESS_VALUE = /^(?:-m|-e|--message|--regexp|--grep|--author|--.*(?:exclude|ignore).*)$/;

/** By such options programs run others, load code or write files: where the table doesn't know one, nobody does. */
const STEERS =
  /^--?(?!-?no-)(?:[\w-]+-)?(?:exec|cmd|commands?|prog|program|pager|plugins?|scripts?|eval|hooks?|shell|rsh|renderer|editor|preload|preprocessor|askpass|config|conf|config-file|rcfile|output|output-file|output-dir|outfile|outdir|log-file|logfile)$/;

function kindOf(word: Word, program: Program): "operand" | "option" | "end" | "unclear" {
  const text = textOf(word);
  if (text === "--") return "end";
  if (text !== undefined) return text.startsWith("-") && text !== "-" ? "option" : "operand";
  if (word.values === undefined) {
    if (word.prefix.startsWith("-")) return "option";
    return word.prefix !== "" && word.isOne ? "operand" : "unclear";
  }
  return word.values.some((value) => mayBeOption(value, program)) ? "unclear" : "operand";
}

/** A file that `*` finds may be named like an option: that matters where one runs something. */
function mayBeOption({ text, wildAt }: Value, { options = {} }: Program): boolean {
  if (text.startsWith("-")) return true;
  const isRisky = Object.values(options).some((meaning) => effectsOf(meaning).length > 0);
  return isRisky && wildAt === 0 && /^\*+$/.test(text);
}

function effectsOf(meaning: OptionMeaning): readonly Effect[] {
  if (isFlag(meaning)) return meaning;
  return typeof meaning !== "string" && "takes" in meaning ? meaning.takes : [];
}

function isFlag(meaning: OptionMeaning): meaning is readonly Effect[] {
  return Array.isArray(meaning);
}

/** `names`: several where a shortened one may be any of them. */
type Found = {
  readonly names: readonly string[];
  readonly value?: Word;
  readonly takesNext: boolean;
  readonly isShortened?: boolean;
};

function optionsIn(word: Word, program: Program): readonly Found[] {
  const text = textOf(word) ?? word.prefix;
  const isWhole = textOf(word) !== undefined;
  const { meanings, longNames } = tableOf(program);
  if (text.startsWith("--") || program.isSingleDash === true) {
    const [full = "", ...rest] = text.split("=");
    // Where one dash is enough two mean the same.
    const typed = program.isSingleDash === true ? full.replace(/^--/, "-") : full;
    const names = meanings.has(typed) ? [typed] : standsFor(typed, longNames);
    if (rest.length > 0) return [{ names, value: tail(word, full.length + 1), takesNext: false }];
    const takesNext = isWhole && names.some((name) => takesValue(meanings.get(name)));
    return [{ names, takesNext, isShortened: names[0] !== typed }];
  }
  const found: Found[] = [];
  for (let at = 1; at < text.length; at += 1) {
    const names = [`-${text[at]}`];
    const meaning = meanings.get(names[0]!);
    const isLast = at === text.length - 1 && isWhole;
    if (isLast && takesValue(meaning)) return [...found, { names, takesNext: true }];
    if (!isLast && (takesValue(meaning) || isAttached(meaning)))
      return [...found, { names, value: tail(word, at + 1), takesNext: false }];
    found.push({ names, takesNext: false });
  }
  return found;
}

/** The rest of a word from there. */
function tail(word: Word, at: number): Word {
  const values = word.values?.map(({ text, wildAt }): Value => ({
    text: text.slice(at),
    wildAt: wildAt === undefined ? undefined : Math.max(0, wildAt - at),
  }));
  return { source: word.source, values, prefix: word.prefix.slice(at), isOne: word.isOne };
}

type Table = { readonly meanings: ReadonlyMap<string, OptionMeaning>; readonly longNames: readonly string[] };

/** Made once for each program: every command line looks options up. */
const TABLES = new WeakMap<Program, Table>();

function tableOf(program: Program): Table {
  const known = TABLES.get(program);
  if (known !== undefined) return known;
  const meanings = new Map<string, OptionMeaning>();
  for (const [names, meaning] of Object.entries(program.options ?? {})) {
    for (const name of names.split(" ")) if (!meanings.has(name)) meanings.set(name, meaning);
  }
  for (const name of program.deep === true ? [] : (program.deep ?? [])) {
    if (!meanings.has(name)) meanings.set(name, []);
  }
  const table = { meanings, longNames: [...meanings.keys()].filter((name) => name.startsWith("--")) };
  TABLES.set(program, table);
  return table;
}

/** It takes one, and it may be the next word. */
function takesValue(meaning: OptionMeaning | undefined): boolean {
  return meaning !== undefined && !isFlag(meaning) && !isAttached(meaning);
}

function isAttached(meaning: OptionMeaning | undefined): meaning is { readonly attached: "value" | How } {
  return typeof meaning === "object" && "attached" in meaning;
}

/** False: what it says can't be known and matters. */
function note(meaning: OptionMeaning, value: Word | undefined, findings: Findings): boolean {
  if (isAttached(meaning)) return note(meaning.attached, value, findings);
  if (meaning === "value") return value === undefined || value.isOne || value.values !== undefined;
  if (typeof meaning !== "string") findings.add(...effectsOf(meaning));
  else {
    if (value !== undefined && textOf(value) !== "-") findings.touch(value, meaning);
  }
  return true;
}

function touchOperands(program: Program, given: Given, findings: Findings): void {
  const { operands } = given;
  const deep = program.deep ?? [];
  const isDeep = deep === true || given.options.some(({ name }) => deep.includes(name));
  const touchAll = (words: readonly Word[], how: How): void => {
    for (const word of words) if (textOf(word) !== "-") findings.touch(word, how, { isDeep });
  };
  switch (program.operands) {
    case undefined:
      return;
    case "copy":
    case "move": {
      const isMove = program.operands === "move";
      const hasTarget = given.options.some(({ name }) => name === "-t" || name === "--target-directory");
      const [sources, targets] = hasTarget ? [operands, []] : [operands.slice(0, -1), operands.slice(-1)];
      touchAll(sources, isMove ? "delete" : "read");
      touchAll(targets, "write");
      return;
    }
    case "after_first_read":
      return touchAll(operands.slice(1), "read");
    case "after_first_write":
      return touchAll(operands.slice(1), "write");
    default:
      touchAll(operands, program.operands);
  }
}
