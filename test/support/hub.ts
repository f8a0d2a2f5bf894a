/** The real hub with the in-memory driver, in this process or as one of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { SidestickClient } from "../../src/client/sidestick.ts";
import { socketFetch } from "../../src/cli/socket-fetch.ts";
import type { Role } from "../../src/domain/actor.ts";
import { type Drivers, startHub } from "../../src/main/hub.ts";
import { readSettings } from "../../src/main/settings.ts";
import { MemoryDriver } from "./memory-driver.ts";
import { temporaryDirectory } from "./temporary.ts";

export type TestHub = {
  readonly url: string;
  readonly port: number;
  readonly dataDir: string;
  readonly operatorToken: string;
  readonly agentToken: string;
  readonly loginLink: () => string;
  readonly stop: () => Promise<void>;
};

/** In this process; stopped when the test is over. */
export async function startTestHub(
  options: { dataDir?: string; args?: readonly string[]; drivers?: Drivers } = {},
): Promise<TestHub> {
  const dataDir = options.dataDir ?? (await temporaryDirectory());
  const settings = readSettings(["--port", "0", "--data-dir", dataDir, ...(options.args ?? [])], {
    XDG_CONFIG_HOME: dataDir,
    XDG_STATE_HOME: dataDir,
  });
  const hub = await startHub(settings, options.drivers ?? [new MemoryDriver("terminal"), new MemoryDriver("file")]);
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= hub.close());
  onTestFinished(stop);
  return {
    url: hub.url,
    port: hub.port,
    dataDir,
    operatorToken: await tokenOf(dataDir, "operator", "olga"),
    agentToken: await tokenOf(dataDir, "agent", "bot"),
    loginLink: hub.loginLink,
    stop,
  };
}

/** Made as a person makes one: through the operator's socket. */
export async function tokenOf(dataDir: string, role: Role, name: string): Promise<string> {
  const operator = operatorClient(dataDir);
  return (await operator.token.create({ role, name })).token;
}

/** Agents' terminals without the guard: for tests of something else, whose homes lie in the data directory. */
export async function leaveOpen(dataDir: string): Promise<void> {
  await operatorClient(dataDir).workspace.put({ workspaceId: "default", settings: { containment: "open" } });
}

export function operatorClient(dataDir: string): SidestickClient {
  return new SidestickClient({ url: "http://hub", fetch: socketFetch(join(dataDir, "hub.sock")) });
}

export type HubProcess = {
  readonly url: string;
  readonly child: ChildProcess;
  readonly kill: (signal?: NodeJS.Signals) => Promise<void>;
};

/** As a process of its own, to be killed. */
export async function spawnTestHub(
  dataDir: string,
  args: readonly string[] = [],
  composition: "hub" | "terminal-hub" | "unredacted-hub" = "hub",
): Promise<HubProcess> {
  const script = new URL(`../composition/${composition}.ts`, import.meta.url).pathname;
  const child = spawn(process.execPath, [script, "--port", "0", "--data-dir", dataDir, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, XDG_CONFIG_HOME: dataDir, XDG_STATE_HOME: dataDir },
  });
  const kill = async (signal: NodeJS.Signals = "SIGKILL"): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  };
  onTestFinished(() => kill());
  const url = await addressOf(child);
  if (composition !== "hub") await leaveOpen(dataDir);
  return { url, child, kill };
}

/** Keeps reading afterwards: a killed hub must not leave an unread pipe behind. */
export function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let url = "";
    child.once("exit", () => reject(new Error("the hub ended before it was ready")));
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    lines.on("error", () => undefined);
    lines.on("line", (line) => {
      url ||= /Address +(\S+)/.exec(line)?.[1] ?? "";
      if (line.startsWith("Ready")) resolve(url);
    });
  });
}
