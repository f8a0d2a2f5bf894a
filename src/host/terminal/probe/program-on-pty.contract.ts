/** A real program on a real terminal, for the probe's tests; it and all it started are gone when the test is over. */
import { type IPty, spawn } from "@lydell/node-pty";
import { expect, onTestFinished } from "vitest";
import { throwawayHome } from "../../../../test/support/empty-home.ts";
import { eventually } from "../../../../test/support/eventually.ts";
import { descendants, type Look, Probe, type ProbeTarget } from "./probe.ts";
import { readStat } from "./processes.ts";

export type ProgramOptions = {
  readonly uid?: number;
  readonly gid?: number;
  readonly env?: Readonly<Record<string, string>>;
};

export class ProgramOnPty {
  readonly pid: number;
  readonly fd: number;
  readonly slavePath: string;
  readonly #pty: IPty;
  #output = "";
  #lastOutputAt = 0;

  constructor(file: string, args: readonly string[], { env = {}, ...user }: ProgramOptions = {}) {
    const home = throwawayHome();
    const clean = { PATH: process.env["PATH"] ?? "", HOME: home.path, LANG: "C.UTF-8", TERM: "xterm-256color" };
    this.#pty = spawn(file, [...args], { encoding: null, cols: 80, rows: 24, env: { ...clean, ...env }, ...user });
    const { fd, ptsName } = this.#pty as IPty & { readonly fd: number; readonly ptsName: string };
    this.pid = this.#pty.pid;
    this.fd = fd;
    this.slavePath = ptsName;
    this.#pty.onData((bytes) => {
      this.#output += bytes;
      this.#lastOutputAt = performance.now();
    });
    onTestFinished(() => this.end().finally(() => home[Symbol.dispose]()));
  }

  get output(): string {
    return this.#output;
  }

  get lastOutputAt(): number {
    return this.#lastOutputAt;
  }

  get target(): ProbeTarget {
    const isOn = (mode: number): boolean =>
      this.#output.lastIndexOf(`\x1b[?${mode}h`) > this.#output.lastIndexOf(`\x1b[?${mode}l`);
    const modes = { altScreen: isOn(1049), bracketedPaste: isOn(2004), mouse: isOn(1000) };
    return { fd: this.fd, shellPid: this.pid, modes };
  }

  type(text: string): void {
    this.#pty.write(text);
  }

  /** The pid of the descendant that runs `program`, once there is one. */
  running(program: string): Promise<number> {
    return eventually(() => {
      const found = [this.pid, ...descendants(this.pid)].find((pid) => readStat(pid)?.program === program);
      expect(found, `${program} runs`).toBeDefined();
      return found!;
    });
  }

  async end(): Promise<void> {
    const gone = new Promise((resolve) => this.#pty.onExit(resolve));
    for (const pid of [...descendants(this.pid), this.pid]) kill(pid);
    if (readStat(this.pid) !== undefined) await gone;
  }
}

export function kill(pid: number, signal: NodeJS.Signals = "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself.
  }
}

let probe: Promise<Probe> | undefined;

/** One for a file of tests, which closes it at its end. */
export async function closeProbe(): Promise<void> {
  const open = probe;
  probe = undefined;
  await (await open)?.close();
}

export async function look(program: ProgramOnPty): Promise<Look> {
  probe ??= Probe.open();
  return (await probe).look(program.target);
}

/** The look once it is as expected; it must stay so. */
export async function lookUntil(program: ProgramOnPty, expected: object): Promise<Look> {
  await eventually(async () => expect(await look(program)).toMatchObject(expected));
  const again = await look(program);
  expect(again).toMatchObject(expected);
  return again;
}

/** In a shell of its own, as a session has it. */
export function inShell(command: string, options?: ProgramOptions): ProgramOnPty {
  return new ProgramOnPty("/bin/bash", ["--norc", "-c", `${command}\n:`], options);
}
