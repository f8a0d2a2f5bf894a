import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HubPolicy } from "./hub.ts";

export const UNJUDGED = "extends: none\ndefault: auto\nunclear: auto\n";

/** What agents do isn't judged there: for tests of something else. Before the hub starts. */
export async function letAgentsBe(dataDir: string, yaml = UNJUDGED): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeFile(join(dataDir, "policy.yaml"), yaml, { mode: 0o600 });
}

export async function setPolicy(dataDir: string, policy: HubPolicy | undefined): Promise<void> {
  if (policy !== "own") await letAgentsBe(dataDir, policy?.yaml);
}
