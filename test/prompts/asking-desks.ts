/** The desks over a real host, without doors: for what no setting of a hub reaches, as its clock or a model. */
import { createLogger } from "../../src/lib/logger.ts";
import { type DeskOptions, openDesks } from "../../src/main/desks.ts";
import { connectLocalHost } from "../../src/main/local-host.ts";
import { DEADLINE_MS } from "../support/deadline.ts";
import { letAgentsBe } from "../support/policy.ts";
import { TERMINAL_HOST } from "../support/host-programs.ts";

export const DAY_MS = 86_400_000;
export const ANN = { kind: "person", id: "ann" } as const;

const LIMITS = {
  activityMaxAgeMs: 10 * DAY_MS,
  activityMaxBytes: 1e12,
  auditMaxAgeMs: 100 * DAY_MS,
  auditMaxBytes: 1e12,
  outputMaxBytes: 1e12,
};

export async function openAskingDesks(dataDir: string, options: Partial<Pick<DeskOptions, "clock" | "ml">> = {}) {
  await letAgentsBe(dataDir);
  const logger = createLogger("error", () => undefined);
  const host = await connectLocalHost({ dataDir, logger, program: TERMINAL_HOST });
  const openDrivers = async () => [host.driver];
  const clock = { now: () => Date.now() };
  const desks = await openDesks({ dataDir, openDrivers, logger, clock, limits: LIMITS, ...options });
  const close = async (): Promise<void> => {
    await host.close();
    await desks.close();
  };
  const run = async (conversation_id: string, command: string): Promise<string> => {
    const input = { conversation_id, command, wait_ms: 0, max_bytes: 1_000 };
    const called = { actor: ANN, signal: AbortSignal.timeout(DEADLINE_MS) };
    return (await desks.terminals.execInteractive(input, called)).workspace_session_id;
  };
  return { desks, run, close };
}
