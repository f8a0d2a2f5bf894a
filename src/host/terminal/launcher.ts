/**
 * Starts a shell as its own subreaper: whatever it starts, and whatever that leaves behind (`setsid`, `nohup`, a double
 * fork, an emptied environment), becomes its child and so can be found. The attribute survives `execve` but not `fork`,
 * so a small program sets it and becomes the shell. Its parent stays above it as the shell's keeper and has no other
 * child: what gets out from below the shell (CLONE_PARENT, a subreaper no more) is the keeper's, and no other session's.
 * Rules STP-1..STP-3, STP-21 in docs/spec/stopping.md.
 */
import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../protocol/errors.ts";
import type { GuardTerms } from "../../protocol/link.ts";
import { guarded } from "../guard/guard.ts";
import { commandsOf } from "./shells/submission.ts";
import { giveTo, lendTo, type SessionAccount } from "./session-account.ts";
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
  readonly keeper?: Keeper;
  /** Paths that its guard should close and could not. */
  readonly left?: readonly string[];
};

/** It isn't the shell's own process that is started, but one that stays above it: which is which comes as the terminal's first line. */
export type Keeper = {
  /** What is said where that line doesn't come. */
  readonly failed: string;
  /** Where it is started, if not where the shell is. */
  readonly cwd?: string;
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
    const own = realpathSync(directory);
    const shown = { shown: [own], fixed: [commandsOf(own)] };
    const options = { ...how, ...shown, planIn: directory, terminal: "own" } as const;
    // A guard has its own idea of what is where: the program enters its directory there.
    const keeper = { failed: "The guard could not be built", cwd: "/" };
    return { ...guarded({ ...program, cwd }, options), tracking: () => "pid_namespace", keeper };
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
    keeper: { failed: "The shell could not be started" },
  };
}

async function launchedAs(account: SessionAccount, program: Program, directory: string): Promise<Launched> {
  if (!isThere("perl")) throw new AppError("kind_unavailable", { detail: "Sessions as another user need perl" });
  const { uid, gid, groups } = account;
  const become = `$) = "${gid} ${groups.join(" ")}"; $( = ${gid}; ($<, $>) = (${uid}, ${uid});
die "no rights of ${uid}\\n" unless $< == ${uid} && $> == ${uid} && $( == ${gid};`;
  const launch = await launchedBy({ file: PERL, args: ["-f", "-e", perlLauncher(become)] }, program, directory);
  // From here on nothing in it is root's to read or write by name.
  await Promise.all([giveTo(account, directory), lendTo(account, commandsOf(directory))]);
  return launch;
}

type Launcher = { readonly file: string; readonly args: readonly string[] };

/** They have other numbers on each architecture, and perl knows none of them. */
const NUMBERS: Readonly<Record<string, { readonly prctl: number; readonly setsid: number }>> = {
  x64: { prctl: 157, setsid: 112 },
  arm64: { prctl: 167, setsid: 157 },
};

const PERL = "/usr/bin/perl";

/**
 * The first process gives its terminal away, takes in what slips from below the shell, and ends as the shell did.
 * `become`: whose files it reads, it reads with their rights.
 */
function perlLauncher(become = ""): string {
  const { prctl, setsid } = NUMBERS[process.arch] ?? { prctl: 0, setsid: 0 };
  return `
my ($from, @program) = @ARGV;
my $adopts = syscall(${prctl}, 36, 1, 0, 0, 0) == 0;
$SIG{HUP} = "IGNORE";
pipe(my $waits, my $go) or die "pipe: $!\\n";
my $shell = fork() // die "fork: $!\\n";
launch() if $shell == 0;
syswrite(STDOUT, "$shell\\n");
ioctl(STDIN, 0x5422, 0);
close $_ for *STDIN, *STDOUT, *STDERR, $waits, $go;
chdir "/";
my $ended;
do { $ended = waitpid(-1, 0) } until $ended == $shell || $ended < 0;
my $signal = $? & 127;
my $code = $signal ? 128 + $signal : $? >> 8;
if ($signal) {
  syscall(${prctl}, 4, 0, 0, 0, 0);
  $SIG{$_} = "DEFAULT" for qw(HUP FPE);
  kill $signal, $$;
}
exit $code;
sub launch {
  close $go;
  sysread($waits, my $nothing, 1);
  close $waits;
  syscall(${setsid});
  ioctl(STDIN, 0x540E, 0);
  $SIG{HUP} = "DEFAULT";
  ${become}
  open(my $in, "<:raw", $from) or die "$from: $!\\n";
  my $entries = do { local $/; <$in> };
  close($in);
  unlink($from) if syscall(${prctl}, 36, 1, 0, 0, 0) == 0 && $adopts;
  %ENV = map { split(/=/, $_, 2) } split(/\\0/, $entries // "");
  exec { $program[0] } @program;
  die "$program[0]: $!\\n";
}
`;
}

/** Python ignores two signals, and what it ignores the shell would. */
const PYTHON = `
import ctypes, fcntl, os, signal, sys, termios
source, *program = map(os.fsencode, sys.argv[1:])
prctl = ctypes.CDLL(None).prctl
adopts = prctl(36, 1, 0, 0, 0) == 0
def launch():
    os.close(go)
    os.read(waits, 1)
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    with open(source, "rb") as entries:
        environment = dict(it.split(b"=", 1) for it in entries.read().split(b"\\0") if it)
    if prctl(36, 1, 0, 0, 0) == 0 and adopts:
        os.unlink(source)
    for it in (signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(it, signal.SIG_DFL)
    os.execve(program[0], program, environment)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
waits, go = os.pipe()
shell = os.fork()
if shell == 0:
    launch()
os.write(1, b"%d\\n" % shell)
fcntl.ioctl(0, termios.TIOCNOTTY)
for it in (0, 1, 2, waits, go):
    os.close(it)
os.chdir("/")
ended, status = os.wait()
while ended != shell:
    ended, status = os.wait()
code = os.waitstatus_to_exitcode(status)
if code < 0:
    prctl(4, 0, 0, 0, 0)
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code if code >= 0 else 128 - code)
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
  if (name === "perl" && NUMBERS[process.arch] === undefined) return false;
  try {
    accessSync(LAUNCHERS[name]!.file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
