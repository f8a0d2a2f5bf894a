/**
 * The directory of one run of the suite: temporary files and the home of everything that the tests start lie in it.
 * At the end the summary lists what tests left there; processes are killed, files and accounts removed. Nothing here
 * fails a run. Rule HSE-26 in docs/spec/house.md.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout } from "node:timers/promises";
import { ACCOUNTS_FILE, forgetAccount, leftAccounts } from "./accounts.ts";
import { mountsBelow, unmountBelow } from "./left-mounts.ts";
import { killProcessesOf, type LeftProcess, processesOf, type Run, stateOf } from "./left-processes.ts";
import { deadRuns, rememberRunner, RUN_PREFIX, RUNNER_FILE } from "./left-runs.ts";
import { placeOfRuns } from "./run-place.ts";

export type Leftovers = {
  readonly files: readonly string[];
  readonly processes: readonly LeftProcess[];
  /** Of somebody else, who looks into the directory. They are told and not ended. */
  readonly others: readonly LeftProcess[];
  readonly mounts: readonly string[];
  readonly accounts: readonly string[];
};

const HOME = "home";
/** Vitest keeps a token in its home; that is no test's. */
const VITEST = "~/.local/share/vitest/";
const WAIT_MS = 100;
const MOST_WAITS = 30;
const MOST_NAMES = 5;
/** Ctrl+C reaches the programs that remove something, too: then they run again. */
const MOST_TRIES = 5;
/** Directories that programs make outside of it under names of their own choice. */
const OUTSIDE = "/tmp";
const OF_PROGRAMS = /^(?:\.X11-unix|fish\..+|tmux-\d+)$/;
/** A pipe that fish keeps there for all its sessions. */
const FISH_PIPE = "fish_universal_variables.notifier";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

export class RunDirectory {
  readonly path: string;
  /** For the tests and all that they start. */
  readonly env: Readonly<Record<string, string>>;

  readonly #run: Run;
  readonly #outsideBefore = new Set(outside());
  readonly #killed: LeftProcess[] = [];
  readonly #mounts: string[] = [];

  /** The name is short: paths of sockets have to fit into 108 bytes. */
  constructor(place = placeOfRuns()) {
    this.path = mkdtempSync(join(place, RUN_PREFIX));
    rememberRunner(this.path);
    // As /tmp is: some tests run programs of another account.
    chmodSync(this.path, 0o1777);
    mkdirSync(join(this.path, HOME));
    this.env = { TMPDIR: this.path, HOME: join(this.path, HOME) };
    this.#run = { path: this.path, session: undefined, beganAt: 0, ...stateOf(process.pid) };
  }

  /** What tests left, after a moment for processes that are just ending. */
  async leftovers(): Promise<Leftovers> {
    await this.#whileEnding();
    // Before the files are read: what is mounted there is no test's.
    this.#unmount();
    const files = entriesOf(this.path)
      .filter(({ name }) => ![HOME, ACCOUNTS_FILE, RUNNER_FILE].includes(name))
      .map((it) => (it.isDirectory() ? `${it.name}/${contentsOf(join(this.path, it.name))}` : it.name));
    const { own, others } = processesOf(this.#run);
    return {
      files: [...files, ...this.#filesInHome()].toSorted(),
      processes: [...this.#killed, ...own],
      others,
      mounts: this.#mounts.map((path) => relative(this.path, path) || path),
      accounts: leftAccounts(this.path),
    };
  }

  /** Kills the processes that tests left. They are still among the leftovers. */
  async clear(): Promise<void> {
    await this.#whileEnding();
    this.#killed.push(...processesOf(this.#run).own);
    killProcessesOf(this.#run);
  }

  async #whileEnding(): Promise<void> {
    for (let waits = 0; waits < MOST_WAITS && processesOf(this.#run).own.length > 0; waits += 1)
      await setTimeout(WAIT_MS);
  }

  remove(): void {
    removeRun(this.#run);
    for (const name of outside()) if (!this.#outsideBefore.has(name)) removeIfUnused(join(OUTSIDE, name));
  }

  #unmount(): void {
    this.#mounts.push(...unmountBelow(this.path));
  }

  #filesInHome(): string[] {
    const home = join(this.path, HOME);
    return entriesOf(home, { isDeep: mountsBelow(home).length === 0 })
      .filter((it) => !it.isDirectory())
      .map((it) => join("~", relative(home, join(it.parentPath, it.name))))
      .filter((path) => !path.startsWith(VITEST));
  }
}

/** Does the work in a directory of its own, which is gone afterwards, also after Ctrl+C. */
export async function inRunDirectory<T>(
  work: (directory: RunDirectory) => Promise<T>,
): Promise<{ readonly run: T; readonly left: Leftovers }> {
  removeDeadRuns(placeOfRuns());
  const directory = new RunDirectory();
  const remove = (): void => directory.remove();
  // Each removes its own when one is inside another.
  process.on("exit", remove);
  for (const signal of SIGNALS) process.on(signal, exitInterrupted);
  try {
    const run = await work(directory);
    return { run, left: await directory.leftovers() };
  } finally {
    // A signal that comes meanwhile changes nothing: what it asks for is under way.
    remove();
    process.off("exit", remove);
    for (const signal of SIGNALS) process.off(signal, exitInterrupted);
  }
}

/** Of runs on this machine whose runner was killed: it could remove nothing itself. */
function removeDeadRuns(place: string): void {
  for (const run of deadRuns(place)) {
    console.log(`removed, because its runner was killed: ${run.path}`);
    removeRun(run);
  }
}

function removeRun(run: Run): void {
  killProcessesOf(run);
  for (let tries = 0; tries < MOST_TRIES; tries += 1) for (const name of leftAccounts(run.path)) forgetAccount(name);
  unmountBelow(run.path);
  const mounts = mountsBelow(run.path);
  if (mounts.length > 0) console.log(`could not be removed: ${run.path}, because something is mounted on ${mounts[0]}`);
  else if (!removeTree(run.path)) console.log(`could not be removed: ${run.path}`);
}

function exitInterrupted(): void {
  console.log("\ninterrupted");
  process.exit(130);
}

export function leftoverLines({ files, processes, others, mounts, accounts }: Leftovers): string[] {
  const lineOf = ({ pid, command }: LeftProcess): string => `  process ${pid}: ${shortened(command)}`;
  const lines = [
    ...files.map((name) => `  file ${name}`),
    ...processes.map(lineOf),
    ...mounts.map((path) => `  mount ${path}`),
    ...accounts.map((name) => `  account ${name}`),
  ];
  return [
    ...(lines.length === 0 ? [] : ["", `left behind by tests (${lines.length}):`, ...lines]),
    ...(others.length === 0 ? [] : ["", `left running, because no test started them (${others.length}):`]),
    ...others.map(lineOf),
  ];
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
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
      return true;
    } catch {
      spawnSync("chmod", ["-R", "u+rwx", path], { stdio: "ignore" });
      spawnSync("rm", ["-rf", "--one-file-system", path], { stdio: "ignore" });
    }
    if (!existsSync(path)) return true;
  }
  return false;
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
