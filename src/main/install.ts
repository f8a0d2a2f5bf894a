/**
 * `sidestick install --system`: a hub under an account of its own. Each thing is a step that knows whether it is done,
 * so a second run changes nothing. Rule GRD-25 in docs/spec/guard.md.
 */
import { spawnSync, type SpawnSyncOptions } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { MARK, type SystemHub, sysusersText, tmpfilesText, unitText } from "./system-unit.ts";

export type InstallOptions = {
  readonly user: string;
  readonly port: number;
  /** Below it everything is written, and nothing is run. */
  readonly prefix?: string | undefined;
  readonly isDry: boolean;
};

/** What to do, and whether it was (`would`: it would be). */
export type Told = { readonly state: "done" | "kept" | "would" | "left"; readonly what: string };

/** What was done before it stays. */
export class InstallRefused extends Error {
  override readonly name = "InstallRefused";
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}

type Step = {
  readonly what: string;
  readonly isDone: () => boolean;
  /** Absent: it is for somebody else to do. */
  readonly act?: () => void;
};

const INSTALL = resolve(import.meta.dirname, "..", "..");
const HOME = "/var/lib/sidestick";
const UNIT = "/etc/systemd/system/sidestick.service";
const COMMAND = "/usr/local/bin/sidestick";
const SYSUSERS = "/usr/lib/sysusers.d/sidestick.conf";
const TMPFILES = "/usr/lib/tmpfiles.d/sidestick.conf";
const FIRST_PERSON = 1000;

export function installSystem(options: InstallOptions): readonly Told[] {
  const { user, port, prefix, isDry } = options;
  const hub = { user, home: HOME, install: INSTALL, port };
  const root = prefix === undefined ? "/" : resolve(prefix);
  if (prefix === undefined) refuseUnsafe(user, isDry);
  for (const path of [UNIT, SYSUSERS, TMPFILES]) refuseForeign(join(root, path));
  const steps = prefix === undefined ? onThisMachine(hub) : inPackage(hub, root);
  return steps.map((step) => carryOut(step, isDry));
}

export function uninstallSystem({ user, prefix, isDry }: InstallOptions): readonly Told[] {
  if (prefix === undefined && !isDry) refuseUnlessRoot("uninstall");
  const root = prefix === undefined ? "/" : resolve(prefix);
  const files = [UNIT, ...(prefix === undefined ? [] : [SYSUSERS, TMPFILES])].map((it) => join(root, it));
  for (const path of files) refuseForeign(path);
  const steps = [
    ...(prefix === undefined ? [stopped(user)] : []),
    ...files.map(removed),
    commandRemoved(join(root, COMMAND)),
    ...(prefix === undefined ? [reloaded()] : []),
  ];
  const told = steps.map((step) => carryOut(step, isDry));
  const left = join(root, HOME);
  if (!existsSync(left)) return told;
  // Without its account the data would belong to whoever gets that number next.
  const what = `the data in ${left}${prefix === undefined ? `, and the account ${user} that owns it: userdel --remove ${user}` : ""}`;
  return [...told, { state: "left", what }];
}

function carryOut({ what, isDone, act }: Step, isDry: boolean): Told {
  if (isDone()) return { state: "kept", what };
  if (act === undefined) return { state: "left", what };
  if (isDry) return { state: "would", what };
  act();
  return { state: "done", what };
}

function onThisMachine(hub: SystemHub): readonly Step[] {
  const unit = file(UNIT, unitText(hub));
  let isNew = false;
  const unitStep = {
    ...unit,
    act: (): void => {
      unit.act();
      isNew = true;
    },
  };
  return [account(hub), home(hub), unitStep, command(COMMAND), started(() => isNew)];
}

function inPackage(hub: SystemHub, root: string): readonly Step[] {
  return [
    file(join(root, SYSUSERS), sysusersText(hub)),
    file(join(root, TMPFILES), tmpfilesText(hub)),
    directory(join(root, HOME)),
    file(join(root, UNIT), unitText(hub)),
    command(join(root, COMMAND)),
  ];
}

function account({ user, home: path }: SystemHub): Step {
  const args = ["--system", "--user-group", "--home-dir", path, "--shell", "/bin/bash", "--comment", "Sidestick", user];
  return {
    what: `account ${user}: useradd ${args.join(" ")}`,
    isDone: () => accountOf(user) !== undefined,
    act: () => run("useradd", args),
  };
}

function home({ user, home: path }: SystemHub): Step {
  const isMode = directory(path);
  return {
    what: `${path}, for ${user} alone (0700)`,
    isDone: () => isMode.isDone() && statSync(path).uid === accountOf(user)?.uid,
    act: () => {
      isMode.act();
      const { uid, gid } = accountOf(user)!;
      chownSync(path, uid, gid);
    },
  };
}

function directory(path: string): Required<Step> {
  return {
    what: `${path} (0700)`,
    isDone: () => existsSync(path) && (statSync(path).mode & 0o777) === 0o700,
    act: () => {
      mkdirSync(path, { recursive: true });
      chmodSync(path, 0o700);
    },
  };
}

function file(path: string, text: string): Required<Step> {
  return {
    what: path,
    isDone: () => existsSync(path) && readFileSync(path, "utf8") === text,
    act: () => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text, { mode: 0o644 });
      // Whatever the umask was: systemd and packages read it.
      chmodSync(path, 0o644);
    },
  };
}

const PROGRAM = join(INSTALL, "bin", "sidestick");

/** What somebody else put there stays. */
function command(path: string): Step {
  const isFree = lstatSync(path, { throwIfNoEntry: false }) === undefined;
  const what = `${path} -> ${PROGRAM}`;
  if (!isFree && !isOurCommand(path)) {
    return { what: `${what}: something else is there; to replace it, remove it first`, isDone: () => false };
  }
  return {
    what,
    isDone: () => !isFree,
    act: () => {
      mkdirSync(dirname(path), { recursive: true });
      symlinkSync(PROGRAM, path);
    },
  };
}

function isOurCommand(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true && readlinkSync(path) === PROGRAM;
}

function started(isNew: () => boolean): Step {
  if (!hasSystemd()) {
    const what = "start at boot: systemd doesn't run here; later: systemctl enable --now sidestick";
    return { what, isDone: () => false };
  }
  return {
    what: "start now and at boot: systemctl enable --now sidestick",
    isDone: () => !isNew() && succeeds("is-enabled") && succeeds("is-active"),
    act: () => {
      run("systemctl", ["daemon-reload"]);
      run("systemctl", ["enable", "sidestick"]);
      run("systemctl", ["restart", "sidestick"]);
    },
  };
}

function stopped(user: string): Step {
  return {
    what: "end the hub and its sessions: systemctl disable --now sidestick; sidestick down",
    isDone: () => !existsSync(UNIT) || accountOf(user) === undefined,
    act: () => {
      if (hasSystemd()) run("systemctl", ["disable", "--now", "sidestick"]);
      const { uid, gid } = accountOf(user)!;
      const env = { HOME, PATH: "/usr/local/bin:/usr/bin:/bin" };
      run(PROGRAM, ["down"], { uid, gid, env, cwd: "/" });
    },
  };
}

function removed(path: string): Step {
  return { what: `remove ${path}`, isDone: () => !existsSync(path), act: () => rmSync(path) };
}

function commandRemoved(path: string): Step {
  return { what: `remove ${path}`, isDone: () => !isOurCommand(path), act: () => rmSync(path) };
}

function reloaded(): Step {
  return {
    what: "systemctl daemon-reload",
    isDone: () => !hasSystemd(),
    act: () => run("systemctl", ["daemon-reload"]),
  };
}

function refuseUnsafe(user: string, isDry: boolean): void {
  if (!isDry) refuseUnlessRoot("install");
  const uid = accountOf(user)?.uid;
  if (uid !== undefined && (uid === 0 || uid >= FIRST_PERSON)) {
    throw new InstallRefused(`The account ${user} is a person's.`, "Name one for the hub alone: --user NAME");
  }
  const changeable = whoElseCanChange(INSTALL);
  if (changeable === undefined) return;
  throw new InstallRefused(
    `Others than root can change ${changeable}, and with it what the hub runs.`,
    `Move it: sudo cp -a ${INSTALL} /opt/sidestick && sudo chown -R root: /opt/sidestick && sudo chmod -R go-w /opt/sidestick && sudo /opt/sidestick/bin/sidestick install --system`,
  );
}

function refuseUnlessRoot(verb: string): void {
  if (process.geteuid?.() === 0) return;
  throw new InstallRefused(
    `"${verb} --system" changes this machine, which only root may.`,
    `Run it by sudo; --dry-run tells what it would do.`,
  );
}

function refuseForeign(path: string): void {
  if (!existsSync(path) || readFileSync(path, "utf8").startsWith(MARK)) return;
  throw new InstallRefused(`${path} was not written by us.`, "Look at it, and move it away.");
}

/** The first of it, all below it and the directories above it that isn't root's alone; a link counts as what it leads to. */
export function whoElseCanChange(path: string): string | undefined {
  return changeableAbove(path) ?? changeableBelow(path);
}

function changeableAbove(path: string): string | undefined {
  const { uid, mode } = statSync(path);
  const isSticky = (mode & 0o1000) !== 0;
  if (uid !== 0 || ((mode & 0o022) !== 0 && !isSticky)) return path;
  return path === "/" ? undefined : changeableAbove(dirname(path));
}

/** Of what is found there each is looked at once, wherever links lead. */
function changeableBelow(root: string): string | undefined {
  const seen = new Set<string>();
  const left = [root];
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const status = lstatSync(path, { throwIfNoEntry: false });
    // Gone since its directory was listed.
    if (status === undefined) continue;
    if (status.isSymbolicLink()) {
      if (status.uid !== 0) return path;
      const target = existsSync(path) ? realpathSync(path) : undefined;
      const changeable = target === undefined ? undefined : changeableAbove(target);
      if (changeable !== undefined) return changeable;
      if (target !== undefined) left.push(target);
    } else {
      if (status.uid !== 0 || (status.mode & 0o022) !== 0) return path;
      if (status.isDirectory()) left.push(...readdirSync(path).map((it) => join(path, it)));
    }
  }
  return undefined;
}

function accountOf(name: string): { readonly uid: number; readonly gid: number } | undefined {
  const { stdout } = spawnSync("getent", ["passwd", name], { encoding: "utf8" });
  const [, , uid, gid] = (stdout ?? "").split(":");
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

function hasSystemd(): boolean {
  return existsSync("/run/systemd/system");
}

function succeeds(question: "is-enabled" | "is-active"): boolean {
  return spawnSync("systemctl", ["--quiet", question, "sidestick"]).status === 0;
}

function run(program: string, args: readonly string[], options: SpawnSyncOptions = {}): void {
  const { status, stderr, error } = spawnSync(program, args, { ...options, encoding: "utf8" });
  if (status === 0) return;
  const why = error?.message ?? stderr.trim();
  throw new InstallRefused(`${program} failed: ${why}`, "What was done before it stays; run this again afterwards.");
}
