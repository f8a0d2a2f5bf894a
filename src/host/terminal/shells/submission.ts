/**
 * How one command, whatever its text, is given to a shell so that it is exactly one block.
 *
 * bash, zsh and dash read it from a private file, never rewritten: an unbalanced quote is an error at once instead of a
 * prompt for more. fish gets it pasted, because jobs of a sourced file stay in fish's own process group.
 * Rules BLK-15..BLK-28 in docs/spec/blocks.md.
 */
import { closeSync, constants, fchmodSync, fchownSync, openSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError } from "../../../protocol/errors.ts";
import { runForHost } from "../../orphans.ts";
import { putAway } from "../shared-files.ts";
import type { ShellFamily } from "./family.ts";
import { fishQuoted, posixQuoted } from "./quoting.ts";
import { visible } from "./visible.ts";

export type Submission = {
  readonly typed: Uint8Array;
  /** What should appear instead of the echo. */
  readonly shown: Uint8Array;
  /** The contiguous echo to expect; empty if the echo is the command itself. */
  readonly echo: Uint8Array;
  /** From which the shell reads it, while it runs. */
  readonly files: readonly CommandFile[];
  /** To be called when the command has ended: a shell may read its file as it goes. */
  remove(): void;
};

export type CommandFile = { readonly path: string; readonly text: string };

export type SubmittedCommand = { readonly text: string; readonly cwd?: string | undefined; readonly seq: number };

export type SubmissionPlace = {
  /** The shell's own. */
  readonly directory: string;
  /** By which fish's syntax is checked: with the same fish that will run it. */
  readonly shell: string;
  readonly bracketedPaste: boolean;
  readonly integrated: boolean;
};

export async function submissionOf(
  family: ShellFamily,
  command: SubmittedCommand,
  place: SubmissionPlace,
): Promise<Submission> {
  if (command.text.includes("\0")) throw refused("a command can't contain a NUL byte");
  if (command.cwd?.includes("\0") || command.cwd === "") throw refused("cwd is not a path");
  switch (family) {
    case "bash":
    case "zsh":
    case "dash":
      return sourced(family, command, place);
    case "fish":
      return pastedIntoFish(command, place);
    case "other":
      return keyed(command, place);
  }
}

function sourced(
  family: PosixFamily,
  command: SubmittedCommand,
  { directory, integrated }: SubmissionPlace,
): Submission {
  const outer = join(commandsOf(directory), String(command.seq));
  const inner = `${outer}.sh`;
  const lines = integrated ? INTEGRATED[family](command, inner) : [...entering(family, command), reading(inner)];
  const files = [{ path: outer, text: `${lines.join("\n")}\n` }];
  if (lines.includes(reading(inner))) files.push({ path: inner, text: `${command.text}\n` });
  // Synchronous: 0.07 ms on a disk, less than half of the way through the thread pool; a short command takes 0.7 ms.
  for (const { path, text } of files) writeAnew(path, text, READ_ONLY);
  const echo = integrated ? `${line(command.seq)}${TAIL[family]}` : String.raw` \. ${posixQuoted(outer)}`;
  return {
    typed: Buffer.from(`${echo}\r`),
    shown: Buffer.from(visible(command.text)),
    echo: Buffer.from(echo),
    files,
    remove: () => {
      for (const { path } of files) unlink(path);
    },
  };
}

/**
 * Where what a shell is told to read lies: beside its own directory. Inside a guard, and for another account, it can't be
 * written to; elsewhere whatever runs as the same user can change it.
 */
export function commandsOf(directory: string): string {
  return `${directory}${COMMANDS}`;
}

const COMMANDS = ".c";

/**
 * The directory is the shell's, so whatever runs in it may have put something there: a pipe would hold up the host, a
 * link would be written through.
 */
export function writeAnew(path: string, text: string, mode = 0o600): void {
  if (wroteNew(path, text, mode)) return;
  putAway(path);
  if (!wroteNew(path, text, mode)) throw filesChanged();
}

/** For its owner, and for the group of an account that isn't its owner. */
export const READ_ONLY = 0o440;

/** False: something is there. */
function wroteNew(path: string, text: string, mode: number): boolean {
  let fd: number;
  try {
    fd = openSync(path, NEW_FILE, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    throw code === "ENOENT" ? filesChanged() : error;
  }
  try {
    writeFileSync(fd, text);
    if (process.getuid?.() === 0) giveToOwnerOf(dirname(path), fd, mode);
    return true;
  } finally {
    closeSync(fd);
  }
}

/** A shell of another user's must be able to read it. */
function giveToOwnerOf(directory: string, fd: number, mode: number): void {
  const { uid, gid } = statSync(directory);
  fchownSync(fd, uid, gid);
  // Whatever our umask took from the group.
  fchmodSync(fd, mode);
}

const NEW_FILE =
  constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW | constants.O_NONBLOCK;

function filesChanged(): AppError {
  return new AppError("invalid_transition", { detail: "The shell's own files were changed; reset the terminal" });
}

/** It may be gone already, or something else by now: then it goes with the directory. */
function unlink(path: string): void {
  try {
    unlinkSync(path);
  } catch {}
}

type PosixFamily = "bash" | "zsh" | "dash";

/**
 * Short, so that the echo doesn't wrap; quoted, so that no alias changes it. The space keeps it out of most histories
 * even where our hooks are gone.
 */
function line(seq: number): string {
  return String.raw` \. "$__ss"${COMMANDS}/${seq}`;
}

const TAIL: Readonly<Record<PosixFamily, string>> = { bash: String.raw` && \eval "$__ss_t"`, zsh: "", dash: "" };

/** What the file says that the shell is told to read; the user's own text is never changed. */
const INTEGRATED: Readonly<Record<PosixFamily, (command: SubmittedCommand, inner: string) => readonly string[]>> = {
  bash: ({ text, cwd }) => [
    beginning(text),
    ...(cwd === undefined ? [] : [`${changing("bash", cwd)} || __ss_text=false`]),
  ],
  zsh: (command, inner) => [
    beginning(command.text.replace(/\n+$/, "")),
    "{",
    ...entering("zsh", command),
    reading(inner),
    "} always {",
    "__sidestick_end",
    "}",
  ],
  dash: (command, inner) => ["__sidestick_begin", ...entering("dash", command), reading(inner), "__sidestick_end"],
};

function beginning(text: string): string {
  return `__sidestick_begin ${posixQuoted(text)}`;
}

function entering(family: PosixFamily, { cwd }: SubmittedCommand): readonly string[] {
  if (cwd === undefined) return [];
  return [`${changing(family, cwd)} || return 1`];
}

function changing(family: PosixFamily, cwd: string): string {
  return `CDPATH= ${family === "dash" ? "\\cd" : "\\builtin cd"} -- ${posixQuoted(directoryOf(cwd))}`;
}

function reading(inner: string): string {
  return String.raw`\. ${posixQuoted(inner)}`;
}

/** `cd -- -` would go back to the last directory. */
function directoryOf(cwd: string): string {
  return cwd.startsWith("/") ? cwd : `./${cwd}`;
}

async function pastedIntoFish(command: SubmittedCommand, place: SubmissionPlace): Promise<Submission> {
  if (UNPASTABLE.test(command.text)) throw refused("fish can't be given control characters; write them as escapes");
  // Nothing to run would be no command at all for fish.
  const text = command.text.trim() === "" ? " true" : command.text;
  const whole =
    command.cwd === undefined ? text : `cd -- ${fishQuoted(directoryOf(command.cwd))}; and begin\n${text}\nend`;
  if (UNPASTABLE.test(whole)) throw refused("fish can't be given control characters in cwd");
  await checkFish(whole, command.seq, place);
  return asTyped(pasted(whole));
}

/** What a line editor would take as a key, even inside a paste. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const UNPASTABLE = /[\u0000-\u0008\u000B-\u001F\u007F]/;

/** An incomplete command would make fish ask for the rest, and a wrong one would be no block. */
async function checkFish(text: string, seq: number, { directory, shell }: SubmissionPlace): Promise<void> {
  const file = join(commandsOf(directory), `${seq}.fish`);
  writeAnew(file, text, READ_ONLY);
  try {
    await runForHost(shell, ["--no-config", "-n", file], { env: {}, timeout: 5_000, ...rightsOf(directory) });
  } catch (error) {
    throw new AppError("invalid_request", { detail: "fish finds a syntax error in it" }, { cause: error });
  } finally {
    await rm(file, { force: true });
  }
}

/** It may be a program of their own, found in their PATH. */
function rightsOf(directory: string): { readonly uid?: number; readonly gid?: number } {
  const { uid, gid } = statSync(directory);
  return process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : {};
}

function keyed({ text, cwd }: SubmittedCommand, { bracketedPaste }: SubmissionPlace): Submission {
  if (cwd !== undefined) throw refused("cwd can't be set in a shell that isn't known");
  if (UNPASTABLE.test(text)) throw refused("a shell that isn't known can't be given control characters");
  if (bracketedPaste) return asTyped(pasted(text));
  if (/[\n\t]/.test(text)) throw refused("this shell takes one line at a time");
  return asTyped(text);
}

export function pasted(text: string): string {
  return `\u001B[200~${text}\u001B[201~`;
}

function asTyped(text: string): Submission {
  return {
    typed: Buffer.from(`${text}\r`),
    shown: new Uint8Array(0),
    echo: new Uint8Array(0),
    files: [],
    remove: () => undefined,
  };
}

function refused(detail: string): AppError {
  return new AppError("invalid_request", { detail });
}
