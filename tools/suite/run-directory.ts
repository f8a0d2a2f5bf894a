/**
 * The directory of one run of the suite: temporary files and the home of everything that the tests start lie in it.
 * At the end the summary lists what tests left there; processes are killed, files and accounts removed. Nothing here
 * fails a run. Rule HSE-26 in docs/spec/house.md.
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { setTimeout } from "node:timers/promises";
import { ACCOUNTS_FILE, forgetAccount, leftAccounts } from "./accounts.ts";

export type LeftProcess = { readonly pid: number; readonly command: string };
export type Leftovers = {
  readonly files: readonly string[];
  readonly processes: readonly LeftProcess[];
  readonly accounts: readonly string[];
};

const HOME = "home";
/** Vitest keeps a token in its home; that is no test's. */
const VITEST = "~/.local/share/vitest/";
const WAIT_MS = 100;
const MOST_WAITS = 30;
const MOST_NAMES = 5;
/** One process may start another while it is being killed, and takes a moment to go. */
const MOST_KILLS = 100;
const BETWEEN_KILLS_MS = 20;
/** Directories that programs make outside of it under names of their own choice. */
const OUTSIDE = "/tmp";
const OF_PROGRAMS = /^(?:\.X11-unix|fish\..+|tmux-\d+)$/;
/** A pipe that fish keeps there for all its sessions. */
const FISH_PIPE = "fish_universal_variables.notifier";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export class RunDirectory {
  readonly path: string;
  /** For the tests and all that they start. */
  readonly env: Readonly<Record<string, string>>;

  readonly #outsideBefore = new Set(outside());
  readonly #killed: LeftProcess[] = [];

  /** The name is short: paths of sockets have to fit into 108 bytes. */
  constructor(parent = realpathSync(tmpdir())) {
    this.path = mkdtempSync(join(parent, "ss-"));
    // As /tmp is: some tests run programs of another account.
    chmodSync(this.path, 0o1777);
    mkdirSync(join(this.path, HOME));
    this.env = { TMPDIR: this.path, HOME: join(this.path, HOME) };
  }

  /** What tests left, after a moment for processes that are just ending. */
  async leftovers(): Promise<Leftovers> {
    await this.#whileEnding();
    const files = entriesOf(this.path)
      .filter(({ name }) => name !== HOME && name !== ACCOUNTS_FILE)
      .map((it) => (it.isDirectory() ? `${it.name}/${contentsOf(join(this.path, it.name))}` : it.name));
    return {
      files: [...files, ...this.#filesInHome()].toSorted(),
      processes: [...this.#killed, ...this.#processes()],
      accounts: leftAccounts(this.path),
    };
  }

  /** Kills the processes that tests left. They are still among the leftovers. */
  async clear(): Promise<void> {
    await this.#whileEnding();
    this.#killed.push(...this.#processes());
    this.#killProcesses();
  }

  async #whileEnding(): Promise<void> {
    for (let waits = 0; waits < MOST_WAITS && this.#processes().length > 0; waits += 1) await setTimeout(WAIT_MS);
  }

  /** Processes of other accounts may stay: nobody but root can kill them. */
  #killProcesses(): void {
    for (let kills = 0; kills < MOST_KILLS; kills += 1) {
      const killed = this.#processes().filter(({ pid }) => kill(pid));
      if (killed.length === 0) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BETWEEN_KILLS_MS);
    }
  }

  remove(): void {
    this.#killProcesses();
    for (const name of leftAccounts(this.path)) forgetAccount(name);
    if (!removeTree(this.path)) console.log(`could not be removed: ${this.path}`);
    for (const name of outside()) if (!this.#outsideBefore.has(name)) removeIfUnused(join(OUTSIDE, name));
  }

  #filesInHome(): string[] {
    const home = join(this.path, HOME);
    return entriesOf(home, { isDeep: true })
      .filter((it) => !it.isDirectory())
      .map((it) => join("~", relative(home, join(it.parentPath, it.name))))
      .filter((path) => !path.startsWith(VITEST));
  }

  /** Processes with this path in their environment, arguments or working directory. It needs /proc, so Linux. */
  #processes(): LeftProcess[] {
    const pids = processNames().map(Number);
    return pids.flatMap((pid) => {
      if (pid === process.pid || !this.#isMine(pid)) return [];
      return [{ pid, command: read(pid, "cmdline").replaceAll("\0", " ").trim() }];
    });
  }

  #isMine(pid: number): boolean {
    if (stateOf(pid) === "Z") return false;
    return [read(pid, "environ"), read(pid, "cmdline"), directoryOf(pid)].some((it) => it.includes(this.path));
  }
}

/** Does the work in a directory of its own, which is gone afterwards, also after Ctrl+C. */
export async function inRunDirectory<T>(
  work: (directory: RunDirectory) => Promise<T>,
): Promise<{ readonly run: T; readonly left: Leftovers }> {
  const directory = new RunDirectory();
  const remove = (): void => directory.remove();
  // Each removes its own when one is inside another.
  process.on("exit", remove);
  for (const signal of SIGNALS) process.on(signal, exitInterrupted);
  try {
    const run = await work(directory);
    return { run, left: await directory.leftovers() };
  } finally {
    for (const signal of SIGNALS) process.off(signal, exitInterrupted);
    process.off("exit", remove);
    remove();
  }
}

function exitInterrupted(): void {
  console.log("\ninterrupted");
  process.exit(130);
}

export function leftoverLines({ files, processes, accounts }: Leftovers): string[] {
  const lines = [
    ...files.map((name) => `  file ${name}`),
    ...processes.map(({ pid, command }) => `  process ${pid}: ${shortened(command)}`),
    ...accounts.map((name) => `  account ${name}`),
  ];
  return lines.length === 0 ? [] : ["", `left behind by tests (${lines.length}):`, ...lines];
}

/** The first names in a directory: they show which test made it. */
function contentsOf(path: string): string {
  const names = entriesOf(path)
    .map(({ name }) => name)
    .toSorted();
  if (names.length === 0) return "";
  return ` (${[...names.slice(0, MOST_NAMES), ...(names.length > MOST_NAMES ? ["…"] : [])].join(", ")})`;
}

/** Empty for a directory that is gone or can't be read. */
function entriesOf(path: string, { isDeep = false } = {}) {
  try {
    return readdirSync(path, { recursive: isDeep, withFileTypes: true });
  } catch {
    return [];
  }
}

/** Keeps the end: our programs differ in their last arguments. */
function shortened(command: string): string {
  const words = command.replaceAll(/data:\S+/g, "data:…");
  return words.length > 200 ? `…${words.slice(-200)}` : words;
}

/** Directories that a test made unreadable are opened first. Returns whether the tree is gone. */
function removeTree(path: string): boolean {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    return true;
  } catch {
    spawnSync("chmod", ["-R", "u+rwx", path], { stdio: "ignore" });
    return spawnSync("rm", ["-rf", path], { stdio: "ignore" }).status === 0;
  }
}

function outside(): string[] {
  return entriesOf(OUTSIDE)
    .map(({ name }) => name)
    .filter((name) => OF_PROGRAMS.test(name));
}

/** A directory that holds anything else, or another account's, stays: somebody else uses it. */
function removeIfUnused(path: string): void {
  if (entriesOf(path).some(({ name }) => name !== FISH_PIPE)) return;
  try {
    rmSync(join(path, FISH_PIPE), { force: true });
    rmdirSync(path);
  } catch {
    // It stays.
  }
}

function processNames(): string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** Empty for one that is gone, or another account's. */
function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    return "";
  }
}

function stateOf(pid: number): string {
  return /\) (\S)/.exec(read(pid, "stat"))?.[1] ?? "Z";
}

function directoryOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
}

/** Whether there was such a process, and it may be killed. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}
