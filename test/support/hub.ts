/** The real hub with the in-memory driver, in this process or as one of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { SidestickClient } from "../../src/client/sidestick.ts";
import { socketFetch } from "../../src/cli/socket-fetch.ts";
import type { Role } from "../../src/domain/actor.ts";
import { type Drivers, startHub } from "../../src/main/hub.ts";
import { readSettings } from "../../src/main/settings.ts";
import { MemoryDriver } from "./memory-driver.ts";
import { letAgentsBe, setPolicy } from "./policy.ts";
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

/** `own`: what lies in its data directory, or the default; or what its file says. Otherwise agents aren't judged. */
export type HubPolicy = "own" | { readonly yaml: string };

type HubOptions = { dataDir?: string; args?: readonly string[]; drivers?: Drivers; policy?: HubPolicy };

/** In this process; stopped when the test is over. */
export async function startTestHub(options: HubOptions = {}): Promise<TestHub> {
  const dataDir = options.dataDir ?? (await temporaryDirectory());
  const hub = await openIn(dataDir, options);
  onTestFinished(hub.stop);
  return hub;
}

/** In this process, for a whole file: what `beforeAll` returns must be `stop`. */
export async function openTestHub(): Promise<TestHub> {
  const dataDir = await mkdtemp(join(tmpdir(), "sidestick-"));
  const hub = await openIn(dataDir, {});
  const stop = async (): Promise<void> => {
    await hub.stop();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
  };
  return { ...hub, stop };
}

async function openIn(dataDir: string, options: HubOptions): Promise<TestHub> {
  await setPolicy(dataDir, options.policy);
  const settings = readSettings(["--port", "0", "--data-dir", dataDir, ...(options.args ?? [])], {
    XDG_CONFIG_HOME: dataDir,
    XDG_STATE_HOME: dataDir,
  });
  const hub = await startHub(settings, options.drivers ?? [new MemoryDriver("terminal"), new MemoryDriver("file")]);
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= hub.close());
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

type Composition = "hub" | "terminal-hub" | "unredacted-hub";

/** As a process of its own, to be killed; it ends with the test. */
export async function spawnTestHub(
  dataDir: string,
  args: readonly string[] = [],
  composition: Composition = "hub",
): Promise<HubProcess> {
  return openHubProcess(dataDir, args, { composition, whenOver: (kill) => onTestFinished(kill) });
}

/** Whoever spawns it has to kill it. */
export function spawnHub(
  dataDir: string,
  args: readonly string[] = [],
  composition: Composition = "hub",
): Promise<HubProcess> {
  return openHubProcess(dataDir, args, { composition, whenOver: () => undefined });
}

/** For a whole file: who opened it ends it, at once if it doesn't get ready. */
export async function openHubProcess(
  dataDir: string,
  args: readonly string[],
  { composition, whenOver }: { composition: Composition; whenOver: (kill: () => Promise<void>) => void },
): Promise<HubProcess> {
  if (!existsSync(join(dataDir, "policy.yaml"))) await letAgentsBe(dataDir);
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
  whenOver(() => kill());
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
