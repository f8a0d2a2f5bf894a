/**
 * What every contestant has in common: a directory, a text to print, the small programs, and the environment of the
 * shell. Whatever is started here is ended with it.
 */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { terminalText } from "./terminal-text.ts";

export const PROMPT = "bench$ ";
/** Debian's, which has python3-pexpect. */
export const PYTHON = "/usr/bin/python3";

export type Program = "read-loop" | "time-runs" | "ticker";

/** A file to print, and how many bytes of it come out of a terminal, where a line ends with CR LF. */
export type Text = { readonly path: string; readonly bytes: number };

export class Stage implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), "ssb-"));
  readonly quick: boolean;
  readonly #running = new Set<ChildProcess>();
  readonly #texts = new Map<number, Text>();
  readonly #ends: (() => Promise<unknown>)[] = [];

  private constructor(quick: boolean) {
    this.quick = quick;
  }

  static async open(options: { readonly quick: boolean }): Promise<Stage> {
    const stage = new Stage(options.quick);
    mkdirSync(stage.#home);
    // Debian's /etc/bash.bashrc is read for our shells and not for those with --norc.
    writeFileSync(join(stage.#home, ".bashrc"), `PS1='${PROMPT}'; unset -f command_not_found_handle\n`);
    // Set here: a `sh` between tmux or script and the shell drops a PS1 of the environment.
    writeFileSync(stage.shell, `#!/bin/sh\nPS1='${PROMPT}' exec bash --norc --noprofile\n`);
    chmodSync(stage.shell, 0o700);
    for (const program of ["read-loop", "time-runs", "ticker"] as const) {
      const source = join(import.meta.dirname, `${program}.c`);
      await stage.run("cc", ["-O2", "-o", stage.program(program), source, "-lutil"]);
    }
    return stage;
  }

  get #home(): string {
    return join(this.directory, "home");
  }

  /** The whole environment of every shell. */
  get environment(): Record<string, string> {
    return {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      HOME: this.#home,
      LANG: "C.UTF-8",
      SHELL: "/bin/bash",
      TERM: "xterm-256color",
      INPUTRC: "/dev/null",
      HISTFILE: "/dev/null",
    };
  }

  /** Becomes a bash without rc files that prompts with `PROMPT`. */
  get shell(): string {
    return this.path("shell");
  }

  /** For what is no child of ours: it may be called for something that has ended. */
  defer(end: () => Promise<unknown>): void {
    this.#ends.push(end);
  }

  program(name: Program): string {
    return join(this.directory, name);
  }

  peer(name: string): string {
    return join(import.meta.dirname, name);
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  text(megabytes: number): Text {
    const known = this.#texts.get(megabytes);
    if (known !== undefined) return known;
    const path = this.path(`text-${megabytes}`);
    const content = terminalText(megabytes * 1_000_000);
    writeFileSync(path, content);
    const text = { path, bytes: content.length + content.reduce((count, byte) => count + (byte === 10 ? 1 : 0), 0) };
    this.#texts.set(megabytes, text);
    return text;
  }

  /** Runs a program to its end and answers what it printed. */
  async run(file: string, args: readonly string[]): Promise<string> {
    const running = promisify(execFile)(file, [...args], { env: this.environment, cwd: this.directory });
    this.#running.add(running.child);
    try {
      return (await running).stdout;
    } finally {
      this.#running.delete(running.child);
    }
  }

  /** Numbers, one a line. */
  async figures(file: string, args: readonly string[]): Promise<number[]> {
    return (await this.run(file, args)).trim().split("\n").map(Number);
  }

  start(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
    const child = spawn(file, [...args], {
      env: { ...this.environment, ...env },
      cwd: this.directory,
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#running.add(child);
    child.once("exit", () => this.#running.delete(child));
    return child;
  }

  async end(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    const impatience = setTimeout(() => child.kill("SIGKILL"), 10_000);
    child.kill(signal);
    await exited;
    clearTimeout(impatience);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const children = [...this.#running];
    await Promise.all(children.map((child) => this.end(child)));
    // After our children: one of them may just have started what is to be ended.
    await Promise.allSettled(this.#ends.map((end) => end()));
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}
