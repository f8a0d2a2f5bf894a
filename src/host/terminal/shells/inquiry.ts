/**
 * How a shell is asked for its own state, by a line that nothing defined in it can stand in for, as far as its language
 * allows; and how the answer is read, which anybody who can write as the user may have written. Rules GRD-28, GRD-29 in
 * docs/spec/guard.md.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ToldShell } from "../../../domain/shell-state/shell-state.ts";
import type { ShellFamily } from "./family.ts";
import { fishQuoted, posixQuoted } from "./quoting.ts";
import { pasted, writeAnew } from "./submission.ts";

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

/** The program by which a shell tells how it began. */
export async function stateProgram(shell: ToldShell, directory: string): Promise<string> {
  return programOf(shell, join(directory, BEGINNING), (await script(shell)).replaceAll(/^#asked:.*\n/gm, ""));
}

/** How it began, if it has told that. */
export function takeBeginning(directory: string): string | undefined {
  return takeAnswer(join(directory, BEGINNING));
}

export async function inquiryOf(shell: ToldShell, directory: string): Promise<Inquiry> {
  const asked = (await script(shell)).replaceAll(/^#asked:/gm, "");
  const answer = join(directory, ANSWER);
  rmSync(answer, { recursive: true, force: true });
  writeAnew(join(directory, QUESTION), `${shell === "fish" ? FISH_ASKED : ""}${programOf(shell, answer, asked)}`);
  const line = LINES[shell](directory);
  const typed = shell === "fish" ? pasted(line) : line;
  return {
    line,
    typed: Buffer.from(`${typed}\r`),
    answer: () => {
      rmSync(join(directory, QUESTION), { recursive: true, force: true });
      return takeAnswer(answer);
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
  bash: () => String.raw` (__ss_c=$? __ss_o=$SHELLOPTS:$BASHOPTS POSIXLY_CORRECT=1;\. "$__ss"/ask)`,
  zsh: () => {
    const special = (name: string): string => `\${\${(M)\${(t)${name}}:#*special*}:?}`;
    const functions = `("\${(@kv)functions}")`;
    const known = `__ss_t=${special("functions")}${special("dis_functions")} __ss_f=${functions}`;
    return String.raw` (__ss_c=$? ${known} dis_functions=${functions};\. "$__ss"/ask)`;
  },
  fish: (directory) => ` builtin source ${fishQuoted(join(directory, QUESTION))}`,
  dash: () => String.raw` \. "$__ss"/ask`,
};

const FISH_ASKED = "builtin set -l __ss_c $status\n";

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

/** A pipe would hold us up, a link lead us elsewhere. */
function takeAnswer(path: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const { size, uid } = fstatSync(fd);
    const isOurs = fstatSync(fd).isFile() && uid === process.getuid!();
    return isOurs && size <= ANSWER_MAX ? readFileSync(fd, "utf8") : undefined;
  } finally {
    closeSync(fd);
    rmSync(path, { recursive: true, force: true });
  }
}
