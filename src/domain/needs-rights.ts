/**
 * Whether a command would run a program that gains rights (sudo and its like): found by its place in the shell's grammar,
 * so that `echo sudo` is none. It reads what stands there: `$PROGRAM` and scripts stay unknown, and the kernel refuses
 * those. Total, linear, bounded in depth. Rule GRD-15 in docs/spec/guard.md.
 */
import { type CommandWords, ShellReader } from "./shell-reader.ts";

const GAINING: ReadonlySet<string> = new Set(["sudo", "su", "doas", "pkexec", "runuser"]);
const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash", "zsh", "ksh", "fish"]);
/** After these a command begins; the last ones are fish's. */
const BEFORE_COMMANDS: ReadonlySet<string> = new Set(
  "if then elif else while until do ! { } time coproc and or not begin".split(" "),
);
const ASSIGNMENT = /^\w+\+?=/;
/** Text that is run as commands is read again, so deep. */
const DEPTH_MAX = 20;

type Wrapper = {
  /** Options whose value is the next word. */
  readonly valued?: RegExp;
  /** Options with which it runs nothing. */
  readonly idle?: RegExp;
  /** So many words come before the command. */
  readonly operands?: number;
};

/** Programs that run what follows them. */
const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  builtin: {},
  chrt: { valued: /^-[TPD]$/, operands: 1 },
  command: { idle: /^-\w*[vV]/ },
  env: { valued: /^(?:-[uC]|--unset|--chdir)$/ },
  exec: { valued: /^-a$/ },
  ionice: { valued: /^-[cnpPu]$/ },
  nice: { valued: /^(?:-n|--adjustment)$/ },
  nohup: {},
  setsid: {},
  stdbuf: { valued: /^(?:-[ioe]|--input|--output|--error)$/ },
  taskset: { operands: 1 },
  time: { valued: /^-[fo]$/ },
  timeout: { valued: /^(?:-[ks]|--kill-after|--signal)$/, operands: 1 },
  watch: { valued: /^(?:-n|--interval)$/ },
  xargs: { valued: /^-[adEILnPs]$/ },
};

/** The program's name, without its path; undefined: it needs none. */
export function needsRights(command: string): string | undefined {
  return gainingIn(command, 0);
}

function gainingIn(text: string, depth: number): string | undefined {
  if (depth > DEPTH_MAX) return undefined;
  for (const words of new ShellReader(text).commands()) {
    const program = gainingOf(words, depth);
    if (program !== undefined) return program;
  }
  return undefined;
}

function gainingOf(words: CommandWords, depth: number): string | undefined {
  for (let at = commandAt(words, 0); at < words.length;) {
    const name = nameOf(words[at]!);
    if (GAINING.has(name)) return name;
    if (SHELLS.has(name)) return inScript(words.slice(at + 1), depth);
    if (name === "eval") return gainingIn(words.slice(at + 1).join(" "), depth + 1);
    const next = name === "find" ? executedAt(words, at + 1) : wrappedAt(words, at);
    if (next === undefined) return undefined;
    at = commandAt(words, next);
  }
  return undefined;
}

function commandAt(words: CommandWords, from: number): number {
  let at = from;
  while (at < words.length && (BEFORE_COMMANDS.has(words[at]!) || ASSIGNMENT.test(words[at]!))) {
    // As a program `time` takes options, as a word of the shell it is followed by the command.
    if (words[at] === "time" && words[at + 1]?.startsWith("-") === true) break;
    at += 1;
  }
  return at;
}

function nameOf(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}

/** `sh -c TEXT` */
function inScript(args: CommandWords, depth: number): string | undefined {
  const option = args.findIndex((it) => /^-\w*c\w*$/.test(it));
  return option < 0 ? undefined : gainingIn(args[option + 1] ?? "", depth + 1);
}

function executedAt(words: CommandWords, from: number): number | undefined {
  const option = words.findIndex((it, index) => index >= from && /^-(?:exec|ok)(?:dir)?$/.test(it));
  return option < 0 ? undefined : option + 1;
}

/** Where the command of a wrapper begins; undefined: the word is none, or runs nothing. */
function wrappedAt(words: CommandWords, at: number): number | undefined {
  const name = nameOf(words[at]!);
  if (!Object.hasOwn(WRAPPERS, name)) return undefined;
  const { valued, idle, operands = 0 } = WRAPPERS[name]!;
  let next = at + 1;
  for (; words[next]?.startsWith("-") === true; next += 1) {
    if (idle?.test(words[next]!) === true) return undefined;
    if (valued?.test(words[next]!) === true) next += 1;
  }
  return next + operands;
}
