/** The real command line, as a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { run } from "../../src/cli/run.ts";
import { Terminal } from "../../src/cli/terminal.ts";
import { NO_HOME } from "./no-home.ts";

export const CLI = fileURLToPath(new URL("../../bin/main.mjs", import.meta.url));

export type CliResult = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export type CliOptions = {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly stdinFile?: string;
};

export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const child = startCli(args, options);
  child.stdin?.on("error", () => undefined).end(options.stdin ?? "");
  return resultOf(child);
}

/** Nobody reads before the command is over. */
const ROOM = { highWaterMark: 2 ** 26 };

/** In this process, for what needs no process of its own: starting one takes half a second. */
export async function runCliHere(args: readonly string[], { stdin, env = {} }: CliOptions = {}): Promise<CliResult> {
  const [stdout, stderr] = [new PassThrough(ROOM), new PassThrough(ROOM)];
  const source = stdin === undefined ? undefined : Readable.from([Buffer.from(stdin)]);
  Object.assign(process.env, env);
  const code = await run(args, new Terminal(stdout, stderr, () => source)).finally(() => {
    for (const name of Object.keys(env)) delete process.env[name];
  });
  stdout.end();
  stderr.end();
  return { code, stdout: await text(stdout), stderr: await text(stderr) };
}

/** Nothing of the developer's own settings reaches it. */
export function startCli(args: readonly string[], { env = {}, stdinFile }: CliOptions = {}): ChildProcess {
  const stdin = stdinFile === undefined ? "pipe" : openSync(stdinFile, "r");
  const child = spawn(process.execPath, [CLI, ...args], {
    env: { PATH: process.env.PATH ?? "", HOME: NO_HOME, SIDESTICK_AUDIT_HEADS: "/dev/null/none", ...env },
    stdio: [stdin, "pipe", "pipe"],
  });
  if (typeof stdin === "number") closeSync(stdin);
  return child;
}

export type Dialogue = { readonly cols?: number; readonly until?: string; readonly type?: string };

/** On a terminal of its own; `type` is typed when `until` is on the screen. stdout and stderr are one there. */
export async function runOnTerminal(args: readonly string[], { cols = 80, until, type }: Dialogue): Promise<CliResult> {
  const words = [process.execPath, CLI, ...args].map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`);
  const child = spawn("/usr/bin/script", ["-qec", `stty cols ${cols}; ${words.join(" ")}`, "/dev/null"], {
    env: { PATH: process.env.PATH ?? "", HOME: NO_HOME, SHELL: "/bin/sh" },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let seen = "";
  child.stdout.on("data", (chunk: Buffer) => {
    const before = until !== undefined && seen.includes(until);
    seen += chunk.toString();
    if (!before && until !== undefined && seen.includes(until)) child.stdin.write(type ?? "");
  });
  return resultOf(child);
}

async function resultOf(child: ChildProcess): Promise<CliResult> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("the process has no pipes");
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const [out, err, code] = await Promise.all([text(stdout), text(stderr), closed]);
  return { code, stdout: out, stderr: err };
}
