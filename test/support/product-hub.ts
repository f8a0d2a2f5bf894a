/** The product as a process of its own for a whole test file: it has to be ended by whoever started it. */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SidestickClient } from "../../src/client/sidestick.ts";
import { takeDown } from "../../src/main/down.ts";
import { addressOf, leaveOpen, operatorClient } from "./hub.ts";
import { letAgentsBe } from "./policy.ts";

export type ProductHub = {
  readonly dataDir: string;
  /** As the operator. */
  readonly person: SidestickClient;
  /** The host and its sessions too. */
  readonly end: () => Promise<void>;
};

export async function startProductHub(): Promise<ProductHub> {
  const dataDir = await mkdtemp(join(tmpdir(), "sidestick-"));
  await letAgentsBe(dataDir);
  const script = new URL("../composition/terminal-hub.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [script, "--port", "0", "--data-dir", dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, XDG_CONFIG_HOME: dataDir, XDG_STATE_HOME: dataDir },
  });
  await addressOf(child);
  await leaveOpen(dataDir);
  const end = async (): Promise<void> => {
    await takeDown(dataDir);
    await rm(dataDir, { recursive: true, force: true });
  };
  return { dataDir, person: operatorClient(dataDir), end };
}
