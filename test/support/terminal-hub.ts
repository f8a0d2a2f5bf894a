/** The real hub with a real host process, and clients that speak HTTP with it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { SidestickClient } from "../../src/client/sidestick.ts";
import type { Role } from "../../src/domain/actor.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { type Drivers, type Patience, startHub } from "../../src/main/hub.ts";
import { connectLocalHost } from "../../src/main/local-host.ts";
import { readSettings } from "../../src/main/settings.ts";
import { TERMINAL_HOST } from "./host-programs.ts";
import { type HubPolicy, leaveOpen, operatorClient, tokenOf } from "./hub.ts";
import { setPolicy } from "./policy.ts";
import { joinHost, type RemoteHostProcess } from "./remote-host.ts";

export type TerminalHub = {
  readonly url: string;
  readonly dataDir: string;
  /** As an agent. */
  readonly agent: SidestickClient;
  /** As a person. */
  readonly person: SidestickClient;
  /** Of workspaces whose sessions are to run where the default one's do. */
  readonly where: { readonly hostId?: string };
};

/** For one test. */
export async function startTerminalHub(policy?: HubPolicy): Promise<TerminalHub> {
  const hub = await openTerminalHub({}, policy);
  onTestFinished(hub.stop);
  return hub;
}

/** For a whole file: what `beforeAll` returns must be `stop`. */
export async function openTerminalHub(
  patience: Patience = {},
  policy?: HubPolicy,
  hostArguments: readonly string[] = [],
): Promise<TerminalHub & { readonly stop: () => Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), "sidestick-"));
  await setPolicy(dataDir, policy);
  const settings = readSettings(["--port", "0", "--data-dir", dataDir], {
    XDG_CONFIG_HOME: dataDir,
    XDG_STATE_HOME: dataDir,
  });
  const connect: Drivers = async (parts) => {
    const { driver, close } = await connectLocalHost({ ...parts, program: [...TERMINAL_HOST, ...hostArguments] });
    return { drivers: [driver], close };
  };
  const hub = await startHub(settings, isElsewhere() ? [] : connect, patience);
  await leaveOpen(dataDir);
  const host = isElsewhere() ? await joinElsewhere(hub.url, dataDir) : undefined;
  const stop = async (): Promise<void> => {
    await hub.close();
    await (host === undefined ? endHost(dataDir) : host.end());
    // Shells that are just ending may still write their history.
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  };
  return {
    stop,
    url: hub.url,
    dataDir,
    agent: await clientOf(hub.url, dataDir, "agent"),
    person: await clientOf(hub.url, dataDir, "operator"),
    where: host === undefined ? {} : { hostId: host.hostId },
  };
}

/** Suites of terminals run a second time on a host that has joined: test/remote/as-here. */
const isElsewhere = (): boolean => process.env["SIDESTICK_TEST_HOST"] === "elsewhere";

async function joinElsewhere(url: string, dataDir: string): Promise<RemoteHostProcess> {
  return joinHost({ url, person: operatorClient(dataDir), name: "elsewhere", workspaceId: "default" });
}

/** The host outlives hubs, but not the test. */
export function endHostAfterTest(dataDir: string): void {
  onTestFinished(() => endHost(dataDir));
}

export async function endHost(dataDir: string): Promise<void> {
  const logger = createLogger("error", () => undefined);
  // A link that broke under the request says nothing about the host: it is told again.
  for (let told = false, tries = 0; !told && tries < 3; tries += 1) {
    const host = await connectLocalHost({ dataDir, logger }).catch(() => undefined);
    if (host === undefined) return;
    told = await host.shutdown("now").then(
      () => true,
      () => false,
    );
    await host.close();
  }
}

export async function clientOf(
  url: string,
  dataDir: string,
  role: Role,
  name: string = role,
): Promise<SidestickClient> {
  return new SidestickClient({ url, token: await tokenOf(dataDir, role, name) });
}
