/**
 * Programs that run others: what they would run, as words or as shell text, and what they do themselves. What runs other
 * than shell's (python) is in interpreters.ts. Rules POL-2, POL-3 in docs/spec/policy.md.
 */
import { isRiskyVariable } from "./environment.ts";
import { baseName } from "./paths.ts";
import { EVERYTHING } from "./places.ts";
import { afterOptions, type Before } from "./options.ts";
import {
  ENV,
  FLOCK,
  JOBS,
  type Prefix,
  prefixNamed,
  SCRIPT,
  SETARCH,
  SU,
  TRAP,
  WATCH,
  XARGS,
} from "./prefix-commands.ts";
import type { Stdin } from "./program.ts";
import type { Effect } from "./verdict.ts";
import { literalWord, textOf, unknownWord, type Value, type Word } from "./words.ts";

export type Unwrapped = {
  readonly effects: readonly Effect[];
  readonly commands?: readonly (readonly Word[])[];
  /** Shell text; `undefined`: nobody knows it. */
  readonly texts?: readonly (string | undefined)[];
  /** Its command runs in other directories, or on another machine. */
  readonly isElsewhere?: boolean;
  /** What its command gets is only good enough to be read. */
  readonly mayOnlyRead?: boolean;
  readonly reads?: readonly Word[];
  readonly writes?: readonly Word[];
  readonly deletes?: readonly Word[];
  readonly scripts?: readonly Word[];
};

const SHELLS: ReadonlySet<string> = new Set("sh bash dash zsh ksh ash mksh rbash fish busybox-sh yash".split(" "));

export function unwrap(name: string, words: readonly Word[], stdin: Stdin): Unwrapped | undefined {
  const prefix = prefixNamed(name);
  if (prefix !== undefined) return ofPrefix(prefix, words);
  if (SHELLS.has(name)) return ofShell(name, words, stdin);
  return Object.hasOwn(SPECIAL, name) ? SPECIAL[name]!(words, stdin) : undefined;
}

function ofPrefix(prefix: Prefix, words: readonly Word[]): Unwrapped {
  const before = afterOptions(words, prefix);
  const effects = [...(prefix.effects ?? []), ...unclearIf(before)];
  if (isIdle(before, prefix.idle)) return { effects };
  const { rest, effects: set } = afterAssignments(before.rest.slice(prefix.operands ?? 0));
  const writes = valuesOf(before, prefix.writes);
  const texts = valuesOf(before, prefix.texts).map(textOf);
  // strace pipes into what stands behind these.
  const pipes: readonly Effect[] = writes.some((word) => /^[|!]/.test(word.prefix)) ? ["inline_code"] : [];
  const commands = rest.length > 0 ? [rest] : [];
  const isElsewhere = prefix.isElsewhere === true;
  return { effects: [...effects, ...set, ...pipes], commands, texts, isElsewhere, writes };
}

/** What these options are given. */
function valuesOf({ values }: Before, options = ""): readonly Word[] {
  const names = options.split(" ");
  return values.flatMap(({ option, value }) => (names.includes(option) ? [value] : []));
}

function isIdle({ options }: Before, idle = ""): boolean {
  return options.some((option) => idle.split(" ").includes(option));
}

function unclearIf({ isUnclear }: Pick<Before, "isUnclear">): readonly Effect[] {
  return isUnclear ? ["unclear"] : [];
}

/** `env A=1 B=2 command` */
function afterAssignments(words: readonly Word[]): {
  readonly rest: readonly Word[];
  readonly effects: readonly Effect[];
} {
  const effects: Effect[] = [];
  let at = 0;
  for (; at < words.length; at += 1) {
    const [, name, value] = /^(\w+)\+?=(.*)$/s.exec(words[at]!.prefix) ?? [];
    if (name === undefined) break;
    if (isRiskyVariable(name, textOf(words[at]) === undefined ? undefined : value)) effects.push("environment");
    if (!words[at]!.isOne) effects.push("unclear");
  }
  return { rest: words.slice(at), effects };
}

/** Names that bash also takes with one dash, where others read letters. */
const LONG_OF_SHELLS =
  /^-(?:debug(?:ger)?|dump-(?:po-)?strings|help|init-file|login|no(?:editing|profile|rc)|posix|pretty-print|rcfile|restricted|verbose|version|wordexp)$/;
const FLAGS_OF_SHELLS = /^--(?:login|norc|noprofile|noediting|posix|restricted|verbose|version|help)$/;

/** As shells read them: `o` anywhere in a bundle takes the next word, and the letters behind it count too. */
function shellOptions(words: readonly Word[]): Omit<Before, "values"> {
  const options: string[] = [];
  let isUnclear = false;
  let at = 0;
  while (at < words.length) {
    const word = words[at]!;
    const text = textOf(word) ?? word.prefix;
    if (!/^[-+]/.test(text)) break;
    at += 1;
    if (text === "--" || text === "-") break;
    if (textOf(word) === undefined || LONG_OF_SHELLS.test(text)) isUnclear = true;
    const isFile = text === "--rcfile" || text === "--init-file";
    if (text.startsWith("--")) {
      options.push(text);
      if (!isFile && !FLAGS_OF_SHELLS.test(text)) isUnclear = true;
      at += isFile ? 1 : 0;
      continue;
    }
    for (const letter of text.slice(1)) {
      options.push(`-${letter}`);
      if (!/[oO]/.test(letter)) continue;
      if (words[at] !== undefined && !words[at]!.isOne && words[at]!.values === undefined) isUnclear = true;
      at += 1;
    }
  }
  return { options, rest: words.slice(at), isUnclear };
}

function ofShell(name: string, words: readonly Word[], stdin: Stdin): Unwrapped {
  const before = shellOptions(words);
  const { options, rest } = before;
  // Their text is only read as bash would.
  const isOther =
    /^(?:zsh|fish|ksh|mksh|yash)$/.test(name) && options.some((option) => !/^--(?:version|help)$/.test(option));
  const effects = [...unclearIf(before), ...(isOther ? (["unclear"] as const) : [])];
  const extra: readonly Effect[] = options.some((option) => /^--(?:rcfile|init-file)/.test(option)) ? ["script"] : [];
  if (options.includes("-c") || options.includes("--command")) {
    return { effects: [...effects, ...extra], texts: [textOf(rest[0])] };
  }
  if (options.includes("--version") || options.includes("--help")) return { effects: ["read"] };
  const isFromStdin = rest.length === 0 || options.includes("-s") || textOf(rest[0]) === "-";
  if (!isFromStdin) return ofScript(rest[0]!, [...effects, ...extra]);
  if (stdin.kind === "pipe" || stdin.kind === "file") return { effects: [...effects, "pipe_to_shell"] };
  if (stdin.kind === "text") return { effects, texts: [stdin.text] };
  return { effects: [...effects, "shell_state"] };
}

/** A file that is run, or data from a program: `bash <(curl …)`. */
function ofScript(word: Word, effects: readonly Effect[]): Unwrapped {
  if (/^<\(|^\/(?:dev\/(?:stdin|fd\/)|proc\/self\/fd\/)/.test(word.source))
    return { effects: [...effects, "pipe_to_shell"] };
  return { effects: [...effects, "script"], scripts: [word] };
}

function joinedText(words: readonly Word[]): string | undefined {
  const texts = words.map(textOf);
  return texts.includes(undefined) ? undefined : texts.join(" ");
}

const SPECIAL: Readonly<Record<string, (words: readonly Word[], stdin: Stdin) => Unwrapped | undefined>> = {
  ".": sourced,
  alias: (words) => ({
    effects: ["shell_state"],
    texts: words.filter(({ prefix }) => prefix.includes("=") || prefix === "").map(aliasValue),
  }),
  env: (words) => {
    const before = afterOptions(words, ENV);
    const { rest, effects } = afterAssignments(before.rest);
    const split = valuesOf(before, "-S --split-string");
    if (rest.length === 0 && split.length === 0) return { effects: ["credentials"] };
    const isElsewhere = valuesOf(before, "-C --chdir").length > 0;
    const texts = split.map((value) => joinedText([value, ...rest]));
    const own = [...effects, ...unclearIf(before)];
    return { effects: own, texts, commands: split.length === 0 ? [rest] : [], isElsewhere };
  },
  eval: (words) => ({ effects: [], texts: [joinedText(words)] }),
  find: finding,
  fd: searching,
  flock: (words) => {
    const before = afterOptions(words, FLOCK);
    const [, ...command] = before.rest;
    const isText = textOf(command[0]) === "-c" || textOf(command[0]) === "--command";
    const files = before.rest.slice(0, 1).filter((word) => !/^\d+$/.test(textOf(word) ?? ""));
    return isText
      ? { effects: unclearIf(before), texts: [textOf(command[1])], writes: files }
      : { effects: unclearIf(before), commands: command.length > 0 ? [command] : [], writes: files };
  },
  jobs: (words) => {
    const before = afterOptions(words, JOBS);
    return before.options.includes("-x") ? { effects: unclearIf(before), commands: [before.rest] } : undefined;
  },
  parallel: (words) => {
    const before = afterOptions(words, {
      valued: "-j -a -S -I -N -n -L -d --jobs --arg-file --sshlogin --colsep --delay --timeout",
    });
    const end = before.rest.findIndex((word) => textOf(word)?.startsWith(":::"));
    const command = end < 0 ? before.rest : before.rest.slice(0, end);
    return { effects: ["unclear"], commands: command.length > 0 ? [[...command, unknownWord("{}")]] : [] };
  },
  script: (words) => {
    const before = afterOptions(words, SCRIPT, true);
    const texts = valuesOf(before, "-c --command").map(textOf);
    const logs = valuesOf(before, "-O -I -B -T -t --log-out --log-in --log-io --log-timing --timing");
    return {
      effects: texts.length === 0 ? ["shell_state"] : unclearIf(before),
      texts,
      writes: [...before.rest, ...logs],
    };
  },
  setarch: (words) => {
    // The architecture may be left out where an option follows.
    const isFirst = words[0]?.prefix.startsWith("-") === true;
    const isNamed = isFirst || /^\w[\w-]*$/.test(textOf(words[0]) ?? "");
    const before = afterOptions(isFirst ? words : words.slice(1), SETARCH);
    const effects = [...unclearIf(before), ...(isNamed ? [] : (["unclear"] as const))];
    return before.rest.length > 0
      ? { effects, commands: [before.rest] }
      : { effects: isIdle(before, "--list --help --version") ? effects : [...effects, "shell_state"] };
  },
  source: sourced,
  ssh: (words) => {
    const valued = "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w";
    const flags = "-4 -6 -A -a -C -f -G -g -K -k -M -N -n -q -s -T -t -V -v -X -x -Y -y";
    const { rest } = afterOptions(words, { valued, flags });
    const [, ...command] = rest;
    return { effects: ["remote"], texts: command.length > 0 ? [joinedText(command)] : [], isElsewhere: true };
  },
  su: (words) => {
    const before = afterOptions(words, SU, true);
    const texts = valuesOf(before, "-c --command --session-command").map(textOf);
    return { effects: ["privilege", ...unclearIf(before)], texts, isElsewhere: true };
  },
  trap: (words) => {
    const before = afterOptions(words, TRAP);
    const text = textOf(before.rest[0]);
    const isNothing = before.rest.length < 2 || text === "-" || text === "";
    return { effects: ["shell_state"], texts: isNothing ? [] : [text] };
  },
  watch: (words) => {
    const before = afterOptions(words, WATCH);
    // Then no shell puts the words together and reads them again.
    return isIdle(before, "-x --exec")
      ? { effects: unclearIf(before), commands: [before.rest] }
      : { effects: unclearIf(before), texts: [joinedText(before.rest)] };
  },
  xargs: fed,
};

/** `fd`: what it runs may stand in a bundle, or begin there (`-xrm`). */
function searching(words: readonly Word[]): Unwrapped {
  const runs = /^-[^-]*?[xX]|^--exec(?:-batch)?(?:=|$)/;
  const at = words.findIndex(({ prefix }) => runs.test(prefix));
  if (at < 0)
    return {
      effects: words.some(({ values, prefix }) => values === undefined && prefix === "")
        ? ["read", "unclear"]
        : ["read"],
    };
  const { prefix } = words[at]!;
  const begun = prefix.slice(runs.exec(prefix)![0].length);
  const command = [...(begun === "" ? [] : [literalWord(begun)]), ...words.slice(at + 1)];
  return { effects: ["unclear"], commands: command.length > 0 ? [command] : [] };
}

/** `xargs`: what it reads becomes words of the command. */
function fed(words: readonly Word[], stdin: Stdin): Unwrapped {
  const before = afterOptions(words, XARGS);
  const isReplacing = before.options.some((option) => /^(?:-I|-i|--replace)$/.test(option));
  const mark = textOf(valuesOf(before, "-I -i --replace").at(-1)) ?? "{}";
  const command = before.rest.length === 0 ? [literalWord("echo")] : before.rest;
  const reads = valuesOf(before, "-a --arg-file");
  const isPiped = stdin.kind === "pipe" && reads.length === 0;
  const named = (isPiped ? stdin.names : undefined) ?? [unknownWord("…")];
  const given = isReplacing ? command.map((word) => markedIn(word, mark)) : [...command, ...named];
  // Without it a name with a blank becomes two.
  const isWhole = before.options.some((option) => option === "-0" || option === "--null");
  const sets = valuesOf(before, "--process-slot-var").length > 0;
  const effects: readonly Effect[] = [...unclearIf(before), ...(sets ? (["environment"] as const) : [])];
  return { effects, commands: [given], mayOnlyRead: !isWhole, reads };
}

function markedIn(word: Word, mark: string): Word {
  const at = word.values === undefined ? -1 : (textOf(word) ?? "").indexOf(mark);
  if (word.values === undefined || at < 0) return word;
  return { source: word.source, prefix: word.prefix.slice(0, at), isOne: true };
}

function sourced(words: readonly Word[]): Unwrapped {
  const [file] = afterOptions(words).rest;
  return file === undefined ? { effects: ["unclear"] } : { ...ofScript(file, ["shell_state"]) };
}

function aliasValue(word: Word): string | undefined {
  const text = textOf(word);
  return text?.slice(text.indexOf("=") + 1);
}

const FIND_WRITES = /^-(?:fprint0?|fprintf|fls)$/;
const FIND_RUNS = /^-(?:exec|execdir|ok|okdir)$/;
const FIND_TESTS =
  /^-(?:i?name|i?path|i?wholename|i?regex|type|mtime|mmin|ctime|cmin|atime|amin|newer\w*|size|empty|user|links|perm|inum)$/;

const FOUND_MAX = 64;

/** What it finds stands below where it begins: a pattern there. */
function startsOf(words: readonly Word[]) {
  const begin = words.findIndex((word) => /^[-(!]/.test(word.prefix) && !/^-(?:[HLP]|O\d|D)$/.test(word.prefix));
  const expression = begin < 0 ? [] : words.slice(begin);
  const starts = (begin < 0 ? words : words.slice(0, begin)).filter(
    (word) => !/^-(?:[HLP]|O\d)$/.test(textOf(word) ?? ""),
  );
  const names = [...new Set(namesIn(expression))];
  const places = starts.length === 0 ? [literalWord(".")] : starts;
  // Each of its commands would get them all.
  const isTooMuch = places.length * Math.max(1, names.length) > FOUND_MAX;
  const found = isTooMuch ? [unknownWord("{}")] : places.map((word) => below(word, names));
  return { starts, found, expression };
}

function finding(words: readonly Word[]): Unwrapped {
  const { starts, found, expression } = startsOf(words);
  const commands: (readonly Word[])[] = [];
  const writes: Word[] = [];
  let deletes: readonly Word[] = [];
  for (let at = 0; at < expression.length; at += 1) {
    const text = textOf(expression[at]) ?? "";
    if (text === "-delete") deletes = found;
    if (FIND_WRITES.test(text) && expression[at + 1] !== undefined) writes.push(expression[at + 1]!);
    if (!FIND_RUNS.test(text)) continue;
    const length = expression.slice(at + 1).findIndex((word) => /^[;+]$/.test(textOf(word) ?? ""));
    const command = expression.slice(at + 1, length < 0 ? undefined : at + 1 + length);
    commands.push(command.flatMap((word) => foundIn(word, found)));
    at += command.length;
  }
  // A word that nobody knows may be `-delete`.
  const isUnclear = expression.some((word) => word.values === undefined && !(word.isOne && word.prefix !== ""));
  const isHidden =
    starts.some(({ values, prefix }) => values === undefined && prefix === "") ||
    (isUnclear && !isQuotedArgument(expression));
  return { effects: isHidden ? ["read", "unclear"] : ["read"], commands, writes, deletes };
}

/** Each word that isn't known is the quoted value of a test. */
function isQuotedArgument(expression: readonly Word[]): boolean {
  return expression.every(
    (word, at) => word.values !== undefined || (word.isOne && FIND_TESTS.test(textOf(expression[at - 1]) ?? "")),
  );
}

/** Patterns for the names that it finds; none: it finds everything. */
function namesIn(expression: readonly Word[]): readonly string[] {
  const names = expression.flatMap((word, at) => {
    const test = textOf(word) ?? "";
    if (!FIND_TESTS.test(test)) return [];
    const name = /^-i?(?:name|path|wholename)$/.test(test) ? baseName(textOf(expression[at + 1]) ?? "") : "";
    return [name === "" || name === "*" || name.startsWith(".*") ? EVERYTHING : name];
  });
  // All tests must hold unless it says otherwise: then each name narrows what is found.
  const areAll = !expression.some((word) => /^(?:-o|-or|,|!|-not|\(|\))$/.test(textOf(word) ?? "!"));
  const narrow = names.filter((name) => name !== EVERYTHING);
  return areAll && narrow.length > 0 ? narrow : names;
}

function below(word: Word, names: readonly string[]): Word {
  const values = word.values?.flatMap(({ text, wildAt }): Value[] => {
    const base = text.endsWith("/") ? text : `${text}/`;
    const found = names.length === 0 ? [EVERYTHING] : names;
    const patterns = found.map((name) => ({ text: `${base}**/${name}`, wildAt: wildAt ?? base.length }));
    return names.length === 0 ? [{ text, wildAt }, ...patterns] : patterns;
  });
  return { ...word, values, isOne: true };
}

function foundIn(word: Word, found: readonly Word[]): readonly Word[] {
  const text = textOf(word);
  if (text === "{}") return found;
  return text?.includes("{}") === true
    ? [{ source: word.source, prefix: text.slice(0, text.indexOf("{}")), isOne: true }]
    : [word];
}

/** Where the files are that a listing names, if it is one that we know. */
export function namesFrom(words: readonly Word[]): readonly Word[] | undefined {
  const [program, ...rest] = words;
  if (textOf(program) === "git" && textOf(rest[0]) === "ls-files" && rest.length === 1)
    return [below(literalWord("."), ["?*"])];
  if (textOf(program) !== "find") return undefined;
  const { found, expression } = startsOf(rest);
  const isPlain = [...found, ...expression].every(({ values }) => values !== undefined);
  return isPlain && !expression.some((word) => /^-(?:printf|exec|ok|fprint|fls|ls|delete)/.test(word.prefix))
    ? found
    : undefined;
}
