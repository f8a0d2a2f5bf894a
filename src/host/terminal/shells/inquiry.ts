/**
 * How a shell is asked for its own state, by a line that nothing defined in it can stand in for, as far as its language
 * allows; and how the answer is read, which anybody who can write as the user may have written. Rules GRD-28, GRD-29 in
 * docs/spec/guard.md.
 */
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ToldShell } from "../../../domain/shell-state/shell-state.ts";
import { putAway } from "../shared-files.ts";
import type { ShellFamily } from "./family.ts";
import { fishQuoted, posixQuoted } from "./quoting.ts";
import { commandsOf, pasted, READ_ONLY, writeAnew } from "./submission.ts";

export type Inquiry = {
  /** With its Enter. */
  readonly typed: Uint8Array;
  /** What the line editor may show of it. */
  readonly line: string;
  /** Undefined: there is none, or none that can be read. Once. */
  answer(): string | undefined;
};

export function isToldShell(family: ShellFamily): family is ToldShell {
  return family !== "other";
}

/** Writes the program by which a shell tells how it began. */
export async function prepareState(shell: ToldShell, directory: string): Promise<void> {
  const told = join(directory, BEGINNING);
  const text = (await script(shell)).replaceAll(/^#asked:.*\n/gm, "");
  const files = [
    [join(directory, "state"), programOf(shell, told, text)],
    ...filesOf(shell, told).map((it) => [it, ""]),
  ];
  await Promise.all(files.map(([path = "", content = ""]) => writeFile(path, content, { mode: 0o600 })));
}

/** They are there before the shell writes: as it makes files, others could read them. zsh tells its traps apart. */
function filesOf(shell: ToldShell, told: string): readonly string[] {
  return shell === "zsh" ? [told, `${told}-traps`] : [told];
}

/** How it began, if it has told that. */
export function takeBeginning(directory: string): string | undefined {
  return takeWhole(join(directory, BEGINNING));
}

function takeWhole(path: string): string | undefined {
  const [told, traps] = [takeAnswer(path), takeAnswer(`${path}-traps`)];
  return told === undefined || traps === undefined ? told : `${told}\0traps\0${traps.replaceAll("\0", " ")}`;
}

export async function inquiryOf(shell: ToldShell, directory: string): Promise<Inquiry> {
  const asked = (await script(shell)).replaceAll(/^#asked:/gm, "");
  const answer = join(directory, ANSWER);
  for (const path of filesOf(shell, answer)) writeAnew(path, "");
  const line = LINES[shell](directory);
  const program = programOf(shell, answer, asked);
  const whole = shell === "fish" ? `${FISH_ASKED}${FISH_FORGETS(line)}${program}` : program;
  writeAnew(join(commandsOf(directory), QUESTION), whole, READ_ONLY);
  const typed = shell === "fish" ? pasted(line) : line;
  return {
    line,
    typed: Buffer.from(`${typed}\r`),
    answer: () => {
      putAway(join(commandsOf(directory), QUESTION));
      return takeWhole(answer);
    },
  };
}

const BEGINNING = "began";
const QUESTION = "ask";
const ANSWER = "told";
const ANSWER_MAX = 1024 * 1024;

/**
 * Assignments can't be anybody's function, nor can `.` in POSIX mode (bash) or where functions are disabled (zsh), if
 * that can be done: else the expansion fails and nothing is read.
 */
const LINES: Readonly<Record<ToldShell, (directory: string) => string>> = {
  bash: () => String.raw` (__ss_c=$? __ss_o=$SHELLOPTS:$BASHOPTS POSIXLY_CORRECT=1;\. "$__ss".c/ask)`,
  // Its traps aren't those of its subshell. Whether `trap` is a function is known by then.
  zsh: () => {
    const known = (name: string): string => `("\${(@kv)${name}}")`;
    const own = ["options", "functions", "dis_functions"].map((name) => `\${\${(M)\${(t)${name}}:#*special*}:?}`);
    const before = `__ss_t=${own.join("")} __ss_o=${known("options")} options[aliases]=off`;
    const asking = String.raw`(${before} __ss_f=${known("functions")} dis_functions=${known("functions")};\. "$__ss".c/ask)`;
    const status = "${${(M)options[errexit]:#off}:+$__ss_c}";
    return String.raw` __ss_c=$?;${asking};\trap >|"$__ss"/told-traps;(\exit ${status})`;
  },
  fish: (directory) => ` builtin source ${fishQuoted(join(commandsOf(directory), QUESTION))}`,
  dash: () => String.raw` \. "$__ss".c/ask`,
};

const FISH_ASKED = "builtin set -l __ss_c $status\n";
/** A line with a space before it stays until the next one. */
const FISH_FORGETS = (line: string): string =>
  `builtin history delete --exact --case-sensitive -- ${fishQuoted(line.trimStart())} 2>/dev/null\n`;

function programOf(shell: ToldShell, to: string, text: string): string {
  // An assignment alone is a command that succeeds.
  const status = shell === "dash" ? "__ss_c=$? " : "";
  if (shell !== "fish") return `${status}__ss_to=${posixQuoted(to)}\n${text}`;
  return `builtin set -l __ss_to ${fishQuoted(to)}\n${text}builtin set -q __ss_c; and return $__ss_c\n`;
}

const NAMES: Readonly<Record<ToldShell, string>> = {
  bash: "bash.sh",
  zsh: "zsh.zsh",
  fish: "fish.fish",
  dash: "dash.sh",
};

function script(shell: ToldShell): Promise<string> {
  return readFile(new URL(`state/${NAMES[shell]}`, import.meta.url), "utf8");
}

/** Nothing, or more than an answer is: it may grow while it is read. */
function readBounded(fd: number): string | undefined {
  const bytes = Buffer.allocUnsafe(ANSWER_MAX + 1);
  let length = 0;
  for (let read = -1; read !== 0 && length < bytes.length; length += read)
    read = readSync(fd, bytes, { offset: length });
  return length > 0 && length <= ANSWER_MAX ? bytes.toString("utf8", 0, length) : undefined;
}

/** A pipe would hold us up, a link lead us elsewhere. Whose shell it is, theirs is its directory. */
function takeAnswer(path: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const status = fstatSync(fd);
    const isShells = status.isFile() && status.uid === statSync(dirname(path), { throwIfNoEntry: false })?.uid;
    return isShells ? readBounded(fd) : undefined;
  } finally {
    closeSync(fd);
    putAway(path);
  }
}
