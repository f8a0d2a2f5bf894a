/**
 * A session for one command begins with a program that waits at a pipe of ours and becomes the command when it is given one.
 * So the session, its gate and all that the command would meet are there before anything runs, and can be asked about.
 * Rules RMC-2, RMC-3 in docs/spec/commands.md.
 */
import { accessSync, closeSync, constants, openSync, writeSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import koffi from "koffi";
import type { CommandForm } from "../../../domain/session.ts";
import { AppError } from "../../../protocol/errors.ts";
import { familyOf } from "../shells/family.ts";
import { posixQuoted } from "../shells/quoting.ts";
import type { ShellLaunch } from "../shells/shell.ts";
import { commandsOf } from "../shells/submission.ts";

export type OutputPipes = { readonly stdout: number; readonly stderr: number };

export class CommandPipes implements Disposable {
  /** Undefined: who waited is gone, and the number may be somebody else's by now. */
  #go: number | undefined;
  #output: OutputPipes | undefined;

  /** Opened before anybody else can put something else in their place. */
  constructor(directory: string, form: CommandForm) {
    this.#go = madePipe(join(directory, "go"), constants.O_RDWR);
    if (form === "interactive") return;
    const output = (name: string): number => madePipe(join(directory, name), constants.O_RDONLY);
    this.#output = { stdout: output("stdout"), stderr: output("stderr") };
  }

  /** Of a command without a terminal; whoever takes them closes them. */
  takeOutput(): OutputPipes | undefined {
    const output = this.#output;
    this.#output = undefined;
    return output;
  }

  /** What waits goes on. */
  go(): void {
    if (this.#go === undefined) throw new AppError("invalid_transition", { detail: "The session has ended" });
    writeSync(this.#go, "\n");
  }

  [Symbol.dispose](): void {
    if (this.#go !== undefined) closeSync(this.#go);
    this.#go = undefined;
    for (const fd of Object.values(this.takeOutput() ?? {})) closeSync(fd);
  }
}

function madePipe(path: string, how: number): number {
  if (mkfifo(path, 0o600) !== 0) throw new AppError("storage_unavailable", { detail: "No pipe could be made" });
  return openSync(path, how | constants.O_NONBLOCK | constants.O_NOFOLLOW);
}

export async function prepareCommand(
  form: CommandForm,
  { directory, env }: { readonly directory: string; readonly env: Readonly<Record<string, string>> },
): Promise<ShellLaunch> {
  if (form === "plain") refuseWithoutPerl();
  await mkdir(commandsOf(directory), { mode: 0o700 });
  return { family: "other", file: "/bin/sh", args: ["-c", WAITING, directory], env, integrated: false };
}

/** What the waiting program reads when it goes on. */
export function commandFile(directory: string): string {
  return join(commandsOf(directory), "command");
}

const WAITING = `IFS= read -r _ <"$0/go" && . "$0.c/command"`;

/** What it becomes: as its process is known by. */
export function commandWords(shell: string, text: string): readonly string[] {
  return [shell, "-c", text];
}

export function becoming(form: CommandForm, words: readonly string[]): string {
  const quoted = words.map(posixQuoted).join(" ");
  if (form === "interactive") return `exec ${quoted}\n`;
  // Whatever the user has set for perl is for the command's.
  const kept = PERL_VARIABLES.map((name) => `"\${${name}+=\$${name}}"`).join(" ");
  return `exec /usr/bin/env PERL_BADLANG=0 PERL5OPT= PERL5LIB= ${PERL} -f -e ${posixQuoted(WITHOUT_TERMINAL)} "$0" ${kept} ${quoted}\n`;
}

/** Shells that people's commands are written for; for others the system's own. */
export function commandShell(shell: string): string {
  return COMMAND_FAMILIES.has(familyOf(shell)) ? shell : "/bin/sh";
}

const COMMAND_FAMILIES: ReadonlySet<string> = new Set(["bash", "zsh", "dash"]);
const PERL = "/usr/bin/perl";
const PERL_VARIABLES = ["PERL_BADLANG", "PERL5OPT", "PERL5LIB"];

/**
 * Gives up its controlling terminal (TIOCNOTTY), so that nothing below it can ask there, and stays the process that it is. A
 * session's first process that does so hangs up on itself.
 */
const WITHOUT_TERMINAL = `
my $directory = shift @ARGV;
for my $name (qw(${PERL_VARIABLES.join(" ")})) {
  my $value = shift @ARGV;
  if (length $value) { $ENV{$name} = substr($value, 1) } else { delete $ENV{$name} }
}
$SIG{HUP} = "IGNORE";
if (open(my $terminal, "+<", "/dev/tty")) { ioctl($terminal, 0x5422, 0); close($terminal) }
$SIG{HUP} = "DEFAULT";
open(STDIN, "<", "/dev/null") or exit 126;
open(STDOUT, ">", "$directory/stdout") or exit 126;
open(STDERR, ">", "$directory/stderr") or exit 126;
exec { $ARGV[0] } @ARGV;
exit 127;
`;

function refuseWithoutPerl(): void {
  try {
    accessSync(PERL, constants.X_OK);
  } catch (error) {
    const detail = "Commands without a terminal need perl on their host";
    throw new AppError("kind_unavailable", { detail }, { cause: error });
  }
}

const mkfifo = koffi.load(null).func("int mkfifo(const char *path, uint32_t mode)") as (
  path: string,
  mode: number,
) => number;
