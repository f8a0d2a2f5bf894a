/** The real hub with a real host process, and clients that speak HTTP with it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { SidestickClient } from "../../src/client/sidestick.ts";
import type { Role } from "../../src/domain/actor.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { type Drivers, type Patience, startHub } from "../../src/main/hub.ts";
import { connectLocalHost } from "../../src/main/local-host.ts";
import { readSettings } from "../../src/main/settings.ts";
import { leaveOpen, tokenOf } from "./hub.ts";

export const hostProgram = (name: string): readonly string[] => [
  "--disable-warning=ExperimentalWarning",
  fileURLToPath(new URL(`../composition/${name}`, import.meta.url)),
];
export const TERMINAL_HOST = hostProgram("terminal-host.ts");
export const UNREDACTED_HOST = hostProgram("unredacted-host.ts");

export type TerminalHub = {
  readonly url: string;
  readonly dataDir: string;
  /** As an agent. */
  readonly agent: SidestickClient;
  /** As a person. */
  readonly person: SidestickClient;
};

/** For one test. */
export async function startTerminalHub(): Promise<TerminalHub> {
  const hub = await openTerminalHub();
  onTestFinished(hub.stop);
  return hub;
}

/** For a whole file: what `beforeAll` returns must be `stop`. */
export async function openTerminalHub(
  patience: Patience = {},
): Promise<TerminalHub & { readonly stop: () => Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), "sidestick-"));
  const settings = readSettings(["--port", "0", "--data-dir", dataDir], {
    XDG_CONFIG_HOME: dataDir,
    XDG_STATE_HOME: dataDir,
  });
  const connect: Drivers = async (parts) => {
    const { driver, close } = await connectLocalHost({ ...parts, program: TERMINAL_HOST });
    return { drivers: [driver], close };
  };
  const hub = await startHub(settings, connect, patience);
  await leaveOpen(dataDir);
  const stop = async (): Promise<void> => {
    await hub.close();
    await endHost(dataDir);
    // Shells that are just ending may still write their history.
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  };
  return {
    stop,
    url: hub.url,
    dataDir,
    agent: await clientOf(hub.url, dataDir, "agent"),
    person: await clientOf(hub.url, dataDir, "operator"),
  };
}

/** The host outlives hubs, but not the test. */
export function endHostAfterTest(dataDir: string): void {
  onTestFinished(() => endHost(dataDir));
}

export async function endHost(dataDir: string): Promise<void> {
  const logger = createLogger("error", () => undefined);
  const host = await connectLocalHost({ dataDir, logger }).catch(() => undefined);
  await host?.shutdown("now").catch(() => undefined);
  await host?.close();
}

export async function clientOf(
  url: string,
  dataDir: string,
  role: Role,
  name: string = role,
): Promise<SidestickClient> {
  return new SidestickClient({ url, token: await tokenOf(dataDir, role, name) });
}
