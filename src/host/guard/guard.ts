/**
 * Runs programs in a guard: mount, process and IPC namespaces (and a user namespace where we aren't root), few devices,
 * no way to more rights. One way for all: `guard.pl` carries out a plan. Rules in docs/spec/guard.md.
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants as fs, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { constants as os } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError } from "../../protocol/errors.ts";
import type { GuardAbility, GuardTerms } from "../../protocol/link.ts";
import { completeHome } from "./guard-home.ts";
import { guardLayout } from "./guard-layout.ts";
import { CAPABILITIES, UNSET } from "./guard-places.ts";
import { guardSteps } from "./guard-plan.ts";
import { seccompFilter } from "./seccomp.ts";

export type GuardedProgram = {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
};

export type GuardOptions = {
  /**
   * Where the plan is written: a directory that is hidden in every guard. A number: nowhere, it is to be given to what is
   * started on that descriptor. What lies in `/tmp` a guarded session could change before it is read.
   */
  readonly planIn: string | number;
  /** Sidestick's data and config. */
  readonly ours: readonly string[];
  /** Of it, what the program needs. */
  readonly shown: readonly string[];
  /** Of it, what the program may only read. */
  readonly fixed?: readonly string[];
  readonly terms: GuardTerms;
  /** Variables of ours that the program is to know; all others are unset. */
  readonly told?: Readonly<Record<string, string>>;
  /**
   * `own`: it gets the terminal for itself, and its number comes as the first line. `kept`: that of whoever starts it, as a
   * shell's job. `none`: it has none, and signals are passed on to it. Those two end with whoever starts it.
   */
  readonly terminal: "own" | "kept" | "none";
};

/** What to start instead of the program. `left`: paths that should be closed and could not be. */
export type Guarded = Omit<GuardedProgram, "cwd"> & { readonly left: readonly string[]; readonly plan: string };

export function guarded(program: GuardedProgram, options: GuardOptions): Guarded {
  const { HOME = "/", SHELL = "", PATH } = program.env;
  const left = [...completeHome(HOME, SHELL, PATH), ...completeOthers(options.ours)];
  const { planIn } = options;
  const fields = planOf(program, options);
  // It would be two fields, and the second one whatever its writer likes.
  if (fields.some((it) => it.includes("\0"))) {
    throw new AppError("invalid_request", { detail: "A path or variable of a guarded program holds a NUL byte" });
  }
  const plan = fields.map((it) => `${it}\0`).join("");
  const from = typeof planIn === "number" ? `&${planIn}` : join(planIn, "guard-plan");
  if (typeof planIn === "string") writeFileSync(from, plan, { mode: 0o600 });
  return { file: PERL, args: ["-f", SCRIPT, from, program.file, ...program.args], env: { LC_ALL: "C" }, left, plan };
}

/** What isn't there can't be hidden, and somebody else could make it. */
function completeOthers(ours: readonly string[]): readonly string[] {
  return [...ours, `/tmp/tmux-${process.getuid!()}`].filter((path) => {
    try {
      if (!existsSync(path)) mkdirSync(path, { recursive: true, mode: 0o700 });
      return false;
    } catch {
      return true;
    }
  });
}

const PERL = "/usr/bin/perl";
const SCRIPT = fileURLToPath(new URL("guard.pl", import.meta.url));
const INSTALL = resolve(import.meta.dirname, "..", "..", "..");

const UNIFIED = {
  open_tree: 428,
  move_mount: 429,
  close_range: 436,
  mount_setattr: 442,
  landlock_create_ruleset: 444,
  landlock_restrict_self: 446,
};
/** These differ by architecture. */
const NUMBERS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  x64: { mount: 165, unshare: 272, prctl: 157, setsid: 112, capget: 125, capset: 126, wait4: 61, close: 3 },
  arm64: { mount: 40, unshare: 97, prctl: 167, setsid: 157, capget: 90, capset: 91, wait4: 260, close: 57 },
};

const NEW = { mounts: 0x0002_0000, ipc: 0x0800_0000, users: 0x1000_0000, processes: 0x2000_0000, network: 0x4000_0000 };

function planOf({ env, cwd }: GuardedProgram, options: GuardOptions): readonly string[] {
  const uid = process.getuid!();
  const { terms, terminal } = options;
  const home = env["HOME"] ?? "/";
  const layout = guardLayout({
    home,
    uid,
    env,
    ours: options.ours,
    install: installPlaces(INSTALL),
    shown: options.shown,
    fixed: options.fixed ?? [],
    terms,
    hasTerminal: terminal !== "none",
  });
  const settings = {
    terminal,
    cwd,
    user: uid === 0 ? "" : "1",
    network: terms.network === false ? "" : "1",
    namespaces: namespaces(uid, terms),
    numbers: Object.entries({ ...UNIFIED, ...NUMBERS[process.arch] })
      .map(([name, number]) => `${name}=${number}`)
      .join(" "),
    signals: signalNames().join(" "),
    landlock: hasLandlock() ? "1" : "",
    filter: seccompFilter() ?? "",
    capabilities: Object.values(CAPABILITIES).join(" "),
  };
  const kept = Object.entries(env).filter(([name]) => !UNSET.test(name));
  return [
    ...Object.entries(settings).flatMap(([name, value]) => [name, String(value)]),
    "env",
    ...[...kept, [INSIDE, "1"], ...Object.entries(options.told ?? {})].map(([name, value]) => `${name}=${value}`),
    "do",
    ...guardSteps(layout).flat(),
  ];
}

/** So that our own command line can say there why it finds no hub. It opens nothing. */
const INSIDE = "SIDESTICK_GUARD";

/** Our programs and what they load: packages may be linked from elsewhere, or lie beside us in a project's. */
export function installPlaces(install: string): readonly string[] {
  const beside = /^.*?\/node_modules(?=\/)/.exec(install)?.[0];
  return [install, join(install, "node_modules"), ...(beside === undefined ? [] : [beside]), dirname(process.execPath)];
}

function namespaces(uid: number, { network }: GuardTerms): number {
  const own = network === false ? NEW.network : 0;
  return NEW.mounts | NEW.ipc | NEW.processes | own | (uid === 0 ? 0 : NEW.users);
}

/** By number, as perl names them. */
function signalNames(): readonly string[] {
  const names: string[] = [];
  for (const [name, number] of Object.entries(os.signals)) names[number] ??= name.replace(/^SIG/, "");
  return Array.from(names, (it) => it ?? "-");
}

let landlock: boolean | undefined;

/** Abstract sockets can be closed from version 6 on. */
function hasLandlock(): boolean {
  landlock ??= landlockVersion() >= 6;
  return landlock;
}

function landlockVersion(): number {
  const ask = `my $none = 0; print syscall(${UNIFIED.landlock_create_ruleset}, $none, 0, 1)`;
  const { stdout } = spawnSync(PERL, ["-f", "-e", ask], { encoding: "utf8", env: {} });
  return Number.parseInt(stdout, 10) || 0;
}

/** By doing it once. */
export function guardAbility(): GuardAbility {
  const reason = whyNot();
  if (reason !== undefined) return { available: false, missing: [{ layer: "guard", ...reason }] };
  const missing: GuardAbility["missing"] = [];
  if (!hasLandlock()) {
    const detail = "abstract sockets of others (X, D-Bus) can be reached from inside";
    missing.push({ layer: "landlock", reason: detail, remedy: "a kernel from 6.12 on, with landlock" });
  }
  if (seccompFilter() === undefined) {
    missing.push({ layer: "seccomp", reason: `unknown on ${process.arch}: terminals can be typed into by ioctl` });
  }
  return { available: true, missing, gains_rights: process.getuid!() === 0 };
}

function whyNot(): { readonly reason: string; readonly remedy?: string } | undefined {
  if (NUMBERS[process.arch] === undefined) return { reason: `not known for ${process.arch}` };
  try {
    accessSync(PERL, fs.X_OK);
  } catch {
    return { reason: `${PERL} is missing`, remedy: "install perl" };
  }
  const program = { file: "/bin/true", args: [], env: { HOME: NO_HOME, PATH: "/usr/bin:/bin" }, cwd: "/" };
  const { file, args, env, plan } = guarded(program, { planIn: 0, ours: [], shown: [], terms: {}, terminal: "none" });
  const trial = spawnSync(file, args, { env, input: plan, encoding: "utf8", timeout: TRIAL_MS });
  if (trial.status === 0) return undefined;
  // What could not even be started said nothing, and has no streams.
  const said = trial.stderr?.trim() ?? "";
  return { reason: said || (trial.error?.message ?? `a trial ended with ${trial.status}`), remedy: REMEDY };
}

/** Nothing is there, and nothing can be made there. */
const NO_HOME = "/dev/null";
const TRIAL_MS = 10_000;
const REMEDY = "allow unprivileged user namespaces (kernel.unprivileged_userns_clone, AppArmor), Linux 5.12 or newer";
