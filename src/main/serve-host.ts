/** A host in this process, of whatever way to its hub, until it has ended. */
import { join } from "node:path";
import { guardAbility } from "../host/guard/guard.ts";
import { Host } from "../host/host.ts";
import type { OpenSession } from "../host/hosted-session.ts";
import type { WayToHub } from "../host/link/hub-seat.ts";
import { adoptOrphans } from "../host/orphans.ts";
import type { SpoolLimits } from "../host/spool.ts";
import { createLogger, type Logger } from "../lib/logger.ts";
import type { HostFacts } from "../protocol/link.ts";
import { LogFile } from "./log-file.ts";
import { makePrivateDirectory } from "./private-directory.ts";

export type HostParts = {
  readonly directory: string;
  readonly logger: Logger;
  /** What of Sidestick a guard hides. */
  readonly ours: readonly string[];
};

export type HostComposition = {
  readonly openSession: (parts: HostParts) => Promise<OpenSession>;
  readonly spoolLimits?: SpoolLimits | undefined;
  /** After which silence its hub is taken for dead. */
  readonly deadAfterMs?: number | undefined;
  /** How long whoever holds the directory may take to answer; it may be starting. */
  readonly aliveWithinMs?: number | undefined;
};

export type Serving = {
  readonly dataDir: string;
  readonly hostId: string;
  readonly ours: readonly string[];
  readonly way: (parts: HostParts) => Promise<WayToHub>;
  /** Between the link and what runs sessions. */
  readonly within?: ((open: OpenSession) => OpenSession) | undefined;
  readonly idleMs?: number | undefined;
  readonly facts?: HostFacts | undefined;
  /** One writer for its file: whoever has one already. */
  readonly logger?: Logger | undefined;
  readonly started: (host: Host) => void;
};

export const PRODUCT: HostComposition = {
  openSession: async (parts) => {
    const { openTerminals } = await import("./terminals.ts");
    return openTerminals(parts);
  },
};

const EXIT_WITHIN_MS = 1_000;

export function hostLogger(dataDir: string): Logger {
  const file = new LogFile(join(dataDir, "host.log"));
  return createLogger("info", (line) => file.write(line));
}

/** False: another host runs in that directory. */
export async function serveHost(
  serving: Serving,
  { openSession, spoolLimits, deadAfterMs }: HostComposition,
): Promise<boolean> {
  const { dataDir, hostId, ours, way, within, idleMs, facts, started } = serving;
  const directory = join(dataDir, "host");
  await makePrivateDirectory(directory);
  const logger = serving.logger ?? hostLogger(dataDir);
  if (!adoptOrphans()) logger.warn("what ended shells leave behind can't be found");
  const parts = { directory, logger, ours };
  const open = await openSession(parts);
  const host = await Host.start({
    directory,
    hostId,
    openSession: within === undefined ? open : within(open),
    way: await way(parts),
    logger,
    idleMs,
    spoolLimits,
    deadAfterMs,
    guard: guardAbility(),
    facts,
  });
  if (host === undefined) return false;
  // A fault in one session must not end the shells of all others.
  process.on("uncaughtException", (error) => logger.error("a fault", { error }));
  process.on("unhandledRejection", (error) => logger.error("a fault", { error }));
  process.on("SIGTERM", () => host.shutdown("now"));
  logger.info("the host is up", { pid: process.pid });
  console.log(`The host is ready (pid ${process.pid}).`);
  started(host);
  await host.ended;
  logger.info("the host is down");
  endSoon();
  return true;
}

/** Whatever was left behind, a worker, a timer or who watches a file, must not keep the process. */
export function endSoon(): void {
  setTimeout(() => process.exit(), EXIT_WITHIN_MS).unref();
}
