/**
 * What a word of a shell text can be: one text or several, a pattern in a known directory, or something that nobody
 * knows. Nothing is carried over from earlier commands but what loops name. Rule POL-4 in docs/spec/policy.md.
 */
import { bracesOf } from "./braces.ts";
import type { Directories } from "./paths.ts";
import type { ShellWord, ShellWordPart } from "./shell-tree.ts";

/** `wildAt`: where its first wildcard is; what stands before it is certain. */
export type Value = { readonly text: string; readonly wildAt?: number | undefined };

export type Word = {
  /** As it stands. */
  readonly source: string;
  /** Everything that it may be; absent: nobody knows. */
  readonly values?: readonly Value[] | undefined;
  /** What it certainly begins with. */
  readonly prefix: string;
  /** It is one word whatever it holds. */
  readonly isOne: boolean;
};

export type Scope = {
  readonly home: string | undefined;
  readonly directories: Directories;
  readonly variables: ReadonlyMap<string, readonly Value[]>;
};

const VALUES_MAX = 64;
const SPLITS = /[\s*?[\\]/;

export function literalWord(text: string): Word {
  return { source: text, values: [{ text }], prefix: text, isOne: true };
}

export function unknownWord(source: string): Word {
  return { source, prefix: "", isOne: false };
}

/** The text, where there is only one. */
export function textOf(word: Word | undefined): string | undefined {
  const [value, ...others] = word?.values ?? [];
  return value === undefined || others.length > 0 || value.wildAt !== undefined ? undefined : value.text;
}

/** A word becomes several by its braces. */
export function wordsOf(word: ShellWord, scope: Scope): readonly Word[] {
  if (word.parts === undefined) return [ofLiteral(word.text, word.value, scope)];
  const braced = word.parts.some((part) => part.type === "BraceExpansion") ? bracesOf(word.parts) : undefined;
  if (braced === undefined) return [ofParts(word.text, word.parts, scope)];
  return braced.map((parts) => ofParts(word.text, parts, scope));
}

/** For where a word stays one: assignments, redirections, here-strings. */
export function oneWordOf(word: ShellWord, scope: Scope): Word {
  const words = wordsOf(word, scope);
  return words.length === 1 ? words[0]! : { source: word.text, prefix: "", isOne: true };
}

/** `name=` at the beginning: bash looks for homes behind it, and behind each colon. */
const ASSIGNS = /^[A-Za-z_]\w*\+?=/;

/** A literal of such a word; absent: whose home it is nobody knows. `isFirst`: with the name. `isLast`: nothing follows it. */
function withHomes(
  { text, value }: { readonly text: string; readonly value: string },
  scope: Scope,
  { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
): string | undefined {
  const name = isFirst ? (ASSIGNS.exec(text)?.[0] ?? "") : "";
  if (!(isFirst ? /[=:]~/ : /:~/).test(text)) return value;
  // What is escaped in it can't be told apart any more.
  if (text !== value) return undefined;
  const pieces = text.slice(name.length).split(":");
  const expanded = pieces.map((piece, index) => {
    const isWhole = isLast || index < pieces.length - 1 || piece.includes("/");
    return piece.startsWith("~") && isWhole && (isFirst || index > 0) ? atHome(piece, scope) : piece;
  });
  return expanded.includes(undefined) ? undefined : name + expanded.join(":");
}

function ofAssigning(source: string, value: string, scope: Scope): Word {
  const text = withHomes({ text: source, value }, scope, { isFirst: true, isLast: true });
  return text === undefined
    ? { source, prefix: ASSIGNS.exec(source)![0], isOne: true }
    : { ...literalWord(text), source };
}

function ofLiteral(source: string, value: string, scope: Scope): Word {
  if (ASSIGNS.test(source)) return ofAssigning(source, value, scope);
  if (!source.startsWith("~")) return { source, values: [{ text: value }], prefix: value, isOne: true };
  const expanded = atHome(value, scope);
  return expanded === undefined
    ? { source, prefix: "", isOne: true }
    : { source, values: [{ text: expanded }], prefix: expanded, isOne: true };
}

function atHome(value: string, { home }: Scope): string | undefined {
  if (value === "~" || value.startsWith("~/")) return home === undefined ? undefined : home + value.slice(1);
  return value === "~root" || value.startsWith("~root/") ? `/root${value.slice(5)}` : undefined;
}

function ofParts(source: string, parts: readonly ShellWordPart[], scope: Scope): Word {
  let values: readonly Value[] | undefined = [{ text: "" }];
  let prefix = "";
  let isOne = true;
  const isAssigning = parts[0]?.type === "Literal" && ASSIGNS.test(parts[0].text);
  for (const [index, part] of parts.entries()) {
    const piece =
      isAssigning && part.type === "Literal"
        ? orUnknown(withHomes(part, scope, { isFirst: index === 0, isLast: index === parts.length - 1 }))
        : pieceOf(part, scope, index === 0);
    isOne &&= piece.isOne;
    if (values !== undefined && values.length === 1 && values[0]!.wildAt === undefined) {
      const only = piece.values?.length === 1 ? piece.values[0]! : undefined;
      prefix += only === undefined ? piece.prefix : only.text.slice(0, only.wildAt);
    }
    values = appended(values, piece.values);
  }
  return { source, values: values?.some(climbs) === true ? undefined : values, prefix, isOne };
}

type Piece = Omit<Word, "source">;
const UNKNOWN: Piece = { prefix: "", isOne: false };
const UNKNOWN_ONE: Piece = { prefix: "", isOne: true };

function pieceOf(part: ShellWordPart, scope: Scope, isFirst: boolean): Piece {
  switch (part.type) {
    case "Literal":
      if (isFirst && part.text.startsWith("~")) return ofLiteral(part.text, part.value, scope);
      return known(part.value);
    case "SingleQuoted":
    case "AnsiCQuoted":
      return known(part.value);
    case "DoubleQuoted":
    case "LocaleString":
      return quoted(part.parts, scope);
    case "Glob":
      return { values: [{ text: part.text, wildAt: 0 }], prefix: "", isOne: false };
    case "SimpleExpansion":
      return variable(part.text.slice(1), scope);
    case "ParameterExpansion": {
      const isPlain = part.prefix === undefined && part.index === undefined && part.operation === undefined;
      return isPlain ? variable(part.parameter, scope) : UNKNOWN;
    }
    case "ArithmeticExpansion":
      return UNKNOWN_ONE;
    default:
      return UNKNOWN;
  }
}

function orUnknown(text: string | undefined): Piece {
  return text === undefined ? UNKNOWN_ONE : known(text);
}

function known(text: string): Piece {
  return { values: [{ text }], prefix: text, isOne: true };
}

function quoted(parts: readonly ShellWordPart[], scope: Scope): Piece {
  let values: readonly Value[] | undefined = [{ text: "" }];
  let prefix = "";
  let isOne = true;
  for (const part of parts) {
    const piece = part.type === "Literal" ? known(part.value) : inQuotes(part, scope);
    if (values?.length === 1) prefix += piece.prefix;
    values = appended(values, piece.values);
    isOne &&= piece.isOne;
  }
  return { values, prefix, isOne };
}

/** Nothing is split or matched with files in quotes; only lists become several words. */
function inQuotes(part: ShellWordPart, scope: Scope): Piece {
  if (/^\$(?:@$|\{!?\w*(?:\[@\]|@))/.test(part.text)) return UNKNOWN;
  const name =
    part.type === "SimpleExpansion"
      ? part.text.slice(1)
      : part.type === "ParameterExpansion"
        ? plainName(part)
        : undefined;
  const values = name === undefined ? undefined : valuesOf(name, scope);
  return values === undefined
    ? UNKNOWN_ONE
    : { values, prefix: values.length === 1 ? values[0]!.text : "", isOne: true };
}

function plainName(part: Extract<ShellWordPart, { type: "ParameterExpansion" }>): string | undefined {
  const isPlain = part.prefix === undefined && part.index === undefined && part.operation === undefined;
  return isPlain ? part.parameter : undefined;
}

function variable(name: string, scope: Scope): Piece {
  const values = valuesOf(name, scope);
  if (values === undefined || values.some(({ text, wildAt }) => wildAt !== undefined || SPLITS.test(text)))
    return UNKNOWN;
  return { values, prefix: values.length === 1 ? values[0]!.text : "", isOne: true };
}

function valuesOf(name: string, { home, directories, variables }: Scope): readonly Value[] | undefined {
  if (name === "HOME") return home === undefined ? undefined : [{ text: home }];
  if (name === "PWD") {
    return directories.mayBeElsewhere ? undefined : directories.known.map((text): Value => ({ text }));
  }
  return variables.get(name);
}

function appended(
  before: readonly Value[] | undefined,
  after: readonly Value[] | undefined,
): readonly Value[] | undefined {
  if (before === undefined || after === undefined || before.length * after.length > VALUES_MAX) return undefined;
  return before.flatMap((first) =>
    after.map((second): Value => {
      const wildAt = first.wildAt ?? (second.wildAt === undefined ? undefined : first.text.length + second.wildAt);
      return { text: first.text + second.text, wildAt };
    }),
  );
}

/** A pattern that may lead out of its directory: by `..` behind it, or since `.*` matches `..`. */
function climbs({ text, wildAt }: Value): boolean {
  if (wildAt === undefined) return false;
  const rest = text.slice(text.lastIndexOf("/", wildAt) + 1);
  return rest.split("/").some((segment) => segment === ".." || /^\.[*?[]/.test(segment));
}
