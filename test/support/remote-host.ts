/** A hub and hosts that joined it over a WebSocket, each a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { SidestickClient } from "../../src/client/sidestick.ts";
import { compileCache } from "./compile-cache.ts";
import { DEADLINE_MS } from "./deadline.ts";

export type RemoteHostProcess = {
  readonly child: ChildProcess;
  readonly dataDir: string;
  readonly hostId: string;
  readonly name: string;
  /** What it printed so far, line by line. */
  readonly lines: readonly string[];
  readonly kill: (signal?: NodeJS.Signals) => Promise<void>;
  /** As it was, without a code. */
  readonly again: () => Promise<void>;
  /** The process and its directory. */
  readonly end: () => Promise<void>;
};

export type JoinOptions = {
  readonly url: string;
  readonly person: SidestickClient;
  readonly name: string;
  /** Whose new sessions run there. */
  readonly workspaceId?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Before the command: `ip netns exec …`. */
  readonly prefix?: readonly string[] | undefined;
  readonly dataDir?: string | undefined;
};

const PROGRAM = new URL("../composition/remote-host.ts", import.meta.url).pathname;

/** Resolves when the hub sees it online. One that fails leaves neither a process nor a directory. */
export async function joinHost(options: JoinOptions): Promise<RemoteHostProcess> {
  const { url, person, name, workspaceId, args = [] } = options;
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "sidestick-")));
  const { code } = await person.host.invite({ name, workspaceId });
  const lines: string[] = [];
  let child = start(options, [url, "--code", code, "--data-dir", dataDir, ...args], lines);
  const kill = async (signal: NodeJS.Signals = "SIGKILL"): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  };
  const end = async (): Promise<void> => {
    await kill("SIGTERM");
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  };
  const online = async () => {
    await ready(child, lines);
    return seen(person, name, true);
  };
  const { hostId } = await online().catch(async (error: unknown) => {
    await end();
    throw error;
  });
  return {
    get child() {
      return child;
    },
    dataDir,
    hostId,
    name,
    lines,
    kill,
    again: async () => {
      child = start(options, ["--data-dir", dataDir], lines);
      await online();
    },
    end,
  };
}

/** Waits until the hub has it so. */
export async function seen(person: SidestickClient, name: string, online: boolean) {
  return until(`${name} ${online ? "online" : "offline"}`, async () => {
    const host = await person.host.get({ hostId: name });
    return host.online === online ? host : undefined;
  });
}

function start({ prefix = [], env }: JoinOptions, args: readonly string[], lines: string[]): ChildProcess {
  const [file = "", ...rest] = [...prefix, process.execPath, PROGRAM, ...args];
  const child = spawn(file, rest, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...compileCache(), PATH: process.env.PATH, HOME: process.env["HOME"], ...env },
  });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => lines.push(line));
  }
  return child;
}

async function ready(child: ChildProcess, lines: readonly string[]): Promise<void> {
  await until("the host ready", () => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the host ended: ${lines.join(" · ")}`);
    return lines.find((it) => it.includes(`(pid ${child.pid})`) && it.startsWith("The host is ready"));
  });
}

/** Not `eventually`: benchmarks join hosts too, and that needs vitest. */
async function until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const end = performance.now() + DEADLINE_MS;
  while (performance.now() < end) {
    const seen = await look();
    if (seen !== undefined) return seen;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`not in ${DEADLINE_MS} ms: ${what}`);
}
