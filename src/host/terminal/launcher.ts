/**
 * Starts a shell as its own subreaper: whatever it starts, and whatever that leaves behind (`setsid`, `nohup`, a double
 * fork, an emptied environment), becomes its child and so can be found. The attribute survives `execve` but not `fork`,
 * so a small program sets it and becomes the shell. Rules STP-1..STP-3 in docs/spec/stopping.md.
 */
import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../protocol/errors.ts";
import type { GuardTerms } from "../../protocol/link.ts";
import { guarded } from "../guard/guard.ts";
import { giveTo, type SessionAccount } from "./session-account.ts";
import type { Tracking } from "./stop-order.ts";

export type Program = {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

export type LauncherName = "perl" | "python3" | "none";

export type ShellGuard = {
  /** What of Sidestick is hidden, but for the shell's own directory. */
  readonly ours: readonly string[];
  readonly terms: GuardTerms;
};

/** Whose rights it gets. */
export type ShellUser = { readonly account: SessionAccount };

export type Launching = LauncherName | ShellGuard | ShellUser;

export type Launched = Program & {
  readonly tracking: () => Tracking;
  /** It isn't the shell's own process that is started: which one is comes as the terminal's first line. */
  readonly tellsPid?: boolean;
  /** Paths that its guard should close and could not. */
  readonly left?: readonly string[];
};

/** `directory` is the shell's own. */
export type Place = { readonly directory: string; readonly cwd: string };

/** In a guard, or by the first launcher that this machine has, unless one is named. */
export async function launched(
  program: Program,
  { directory, cwd }: Place,
  how: Launching = bestLauncher(),
): Promise<Launched> {
  if (typeof how === "object" && "account" in how) return launchedAs(how.account, program, directory);
  if (typeof how === "object") {
    const options = { ...how, directory, shown: [realpathSync(directory)], terminal: "own" } as const;
    return { ...guarded({ ...program, cwd }, options), tracking: () => "pid_namespace", tellsPid: true };
  }
  const launcher = LAUNCHERS[how];
  if (launcher === undefined) return { ...program, tracking: () => "best_effort" };
  return launchedBy(launcher, program, directory);
}

async function launchedBy({ file, args }: Launcher, program: Program, directory: string): Promise<Launched> {
  // Not the launcher's own environment: PERL5OPT or a broken locale must not speak to it, nor it to the shell.
  const environment = join(directory, "environment");
  const entries = Object.entries(program.env).map(([key, value]) => `${key}=${value}\0`);
  await writeFile(environment, entries.join(""), { mode: 0o600 });
  return {
    file,
    args: [...args, environment, program.file, ...program.args],
    env: { LC_ALL: "C" },
    // The launcher removes it only when the kernel has said yes.
    tracking: () => (existsSync(environment) ? "best_effort" : "subreaper"),
  };
}

async function launchedAs(account: SessionAccount, program: Program, directory: string): Promise<Launched> {
  if (!isThere("perl")) throw new AppError("kind_unavailable", { detail: "Sessions as another user need perl" });
  const { uid, gid, groups } = account;
  const become = `$) = "${gid} ${groups.join(" ")}"; $( = ${gid}; ($<, $>) = (${uid}, ${uid});
die "no rights of ${uid}\\n" unless $< == ${uid} && $> == ${uid} && $( == ${gid};`;
  const launch = await launchedBy({ file: PERL, args: ["-f", "-e", perlLauncher(become)] }, program, directory);
  // From here on nothing in it is root's to read or write by name.
  await giveTo(account, directory);
  return launch;
}

type Launcher = { readonly file: string; readonly args: readonly string[] };

/** `prctl` has another number on each architecture, and perl knows none of them. */
const PRCTL = ({ x64: 157, arm64: 167 } as Readonly<Record<string, number>>)[process.arch];

const PERL = "/usr/bin/perl";

/** `become`: whose files it reads, it reads with their rights. */
function perlLauncher(become = ""): string {
  return `
my ($from, @program) = @ARGV;
${become}
open(my $in, "<:raw", $from) or die "$from: $!\\n";
my $entries = do { local $/; <$in> };
close($in);
unlink($from) if syscall(${PRCTL ?? 0}, 36, 1, 0, 0, 0) == 0;
%ENV = map { split(/=/, $_, 2) } split(/\\0/, $entries // "");
exec { $program[0] } @program;
die "$program[0]: $!\\n";
`;
}

/** Python ignores two signals, and what it ignores the shell would. */
const PYTHON = `
import ctypes, os, signal, sys
source, *program = map(os.fsencode, sys.argv[1:])
with open(source, "rb") as entries:
    environment = dict(it.split(b"=", 1) for it in entries.read().split(b"\\0") if it)
if ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0:
    os.unlink(source)
for it in (signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(it, signal.SIG_DFL)
os.execve(program[0], program, environment)
`;

/** Where the system puts them: a PATH may hold what somebody else wrote. */
const LAUNCHERS: Readonly<Record<LauncherName, Launcher | undefined>> = {
  perl: { file: PERL, args: ["-f", "-e", perlLauncher()] },
  python3: { file: "/usr/bin/python3", args: ["-I", "-S", "-c", PYTHON] },
  none: undefined,
};

let best: LauncherName | undefined;

function bestLauncher(): LauncherName {
  best ??= (["perl", "python3"] as const).find(isThere) ?? "none";
  return best;
}

function isThere(name: "perl" | "python3"): boolean {
  if (name === "perl" && PRCTL === undefined) return false;
  try {
    accessSync(LAUNCHERS[name]!.file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
