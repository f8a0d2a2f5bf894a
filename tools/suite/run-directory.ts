/**
 * The directory of one run of the suite: temporary files and the home of everything that the tests start lie in it.
 * What is left there at the end, files and processes, was left by a test: it is told, ended and removed.
 * Rule HSE-26 in docs/spec/house.md.
 */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { setTimeout } from "node:timers/promises";

export type LeftProcess = { readonly pid: number; readonly command: string };
export type Leftovers = { readonly files: readonly string[]; readonly processes: readonly LeftProcess[] };

const HOME = "home";
/** Vitest keeps a token in its home; that is no test's. */
const VITEST = "~/.local/share/vitest/";
const WAIT_MS = 100;
const MOST_WAITS = 30;
const MOST_NAMES = 5;
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

  /** The name is short: paths of sockets have to fit into 108 bytes. */
  constructor(parent = tmpdir()) {
    this.path = mkdtempSync(join(parent, "ss-"));
    // As /tmp is: some tests run programs of another account.
    chmodSync(this.path, 0o1777);
    mkdirSync(join(this.path, HOME));
    this.env = { TMPDIR: this.path, HOME: join(this.path, HOME) };
  }

  /** After a moment for what is just ending. */
  async leftovers(): Promise<Leftovers> {
    for (let waits = 0; waits < MOST_WAITS && this.#processes().length > 0; waits += 1) await setTimeout(WAIT_MS);
    const files = readdirSync(this.path, { withFileTypes: true })
      .filter(({ name }) => name !== HOME)
      .map((it) => (it.isDirectory() ? `${it.name}/${contentsOf(join(this.path, it.name))}` : it.name));
    const inHome = readdirSync(join(this.path, HOME), { recursive: true, withFileTypes: true })
      .filter((it) => !it.isDirectory())
      .map((it) => join("~", relative(join(this.path, HOME), join(it.parentPath, it.name))))
      .filter((path) => !path.startsWith(VITEST));
    return { files: [...files, ...inHome].toSorted(), processes: this.#processes() };
  }

  remove(): void {
    // A process may start another while it is being ended.
    for (let left = this.#processes(); left.length > 0; left = this.#processes()) {
      for (const { pid } of left) end(pid);
    }
    rmSync(this.path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    for (const name of outside()) if (!this.#outsideBefore.has(name)) removeIfUnused(join(OUTSIDE, name));
  }

  /** Those that have it in their environment, their words or as their directory. Only Linux tells. */
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
  work: (env: RunDirectory["env"]) => Promise<T>,
): Promise<{ readonly run: T; readonly left: Leftovers }> {
  const directory = new RunDirectory();
  const remove = (): void => directory.remove();
  // Each removes its own when one is inside another.
  process.on("exit", remove);
  for (const signal of SIGNALS) process.on(signal, exitInterrupted);
  try {
    const run = await work(directory.env);
    return { run, left: await directory.leftovers() };
  } finally {
    for (const signal of SIGNALS) process.off(signal, exitInterrupted);
    process.off("exit", remove);
    remove();
  }
}

function exitInterrupted(): void {
  process.exit(130);
}

export function leftoverLines({ files, processes }: Leftovers): string[] {
  const count = files.length + processes.length;
  if (count === 0) return [];
  const processLines = processes.map(({ pid, command }) => `  process ${pid}: ${shortened(command)}`);
  return ["", `left behind by tests (${count}), now gone:`, ...files.map((name) => `  file ${name}`), ...processLines];
}

/** The first names in a directory: they tell which test made it. */
function contentsOf(path: string): string {
  const names = readdirSync(path).toSorted();
  if (names.length === 0) return "";
  return ` (${[...names.slice(0, MOST_NAMES), ...(names.length > MOST_NAMES ? ["…"] : [])].join(", ")})`;
}

/** What tells programs of ours apart stands at the end. */
function shortened(command: string): string {
  const words = command.replaceAll(/data:\S+/g, "data:…");
  return words.length > 200 ? `…${words.slice(-200)}` : words;
}

function outside(): string[] {
  return readdirSync(OUTSIDE).filter((name) => OF_PROGRAMS.test(name));
}

/** One that holds anything else, or another account's, stays: somebody else uses it. */
function removeIfUnused(path: string): void {
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

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}
