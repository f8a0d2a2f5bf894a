/** The hub: desks behind doors, listening on loopback and on the operator's socket. */
import type { AddressInfo } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { type LoginPass, Passes } from "../hub/passes.ts";
import { isBelow, isElsewhere } from "../host/link/ancestry.ts";
import { retentionOf } from "../domain/event.ts";
import type { EventLog, SessionDriver } from "../hub/ports.ts";
import { createLogger, type Logger } from "../lib/logger.ts";
import type { Check } from "../protocol/hub.ts";
import { type Listener, listenForOperator, listenOnLoopback, LOOPBACK } from "../server/listener.ts";
import { openPeerReader } from "../server/peer.ts";
import { type DeskOptions, newSecret, type OpenDesks, openDesks } from "./desks.ts";
import { hubChecks } from "./doctor.ts";
import { createDoors, type DoorOptions } from "./doors.ts";
import { LogFile } from "./log-file.ts";
import { makePrivateDirectory } from "./private-directory.ts";
import { openSecretDigest } from "./secret-digest.ts";
import { placesOf, type Settings } from "./settings.ts";
import { VERSION } from "./version.ts";

const LOGIN_CODE_MS = 10 * 60_000;
const TICKET_MS = 30_000;
const DAY_MS = 86_400_000;
const MB = 1024 * 1024;

const clock = { now: () => Date.now() };

/** Drivers that are there, or the way to open them. */
export type Drivers =
  | readonly SessionDriver[]
  | ((parts: {
      readonly dataDir: string;
      readonly logger: Logger;
    }) => Promise<{ readonly drivers: readonly SessionDriver[]; readonly close: () => Promise<void> }>);

export type RunningHub = {
  readonly url: string;
  readonly port: number;
  readonly loginLink: () => string;
  readonly checks: () => Promise<Check[]>;
  readonly close: () => Promise<void>;
};

/** How long the hub waits for viewers and programs, and its chat platforms; what is absent is the product's. */
export type Patience = Pick<DoorOptions, "heartbeat" | "mcpProgressMs"> &
  Pick<DeskOptions, "graceMs" | "promptTtlMs" | "pace" | "maker" | "chatStore">;

/** Rejects when it can't start; then nothing is left open. */
export async function startHub(settings: Settings, drivers: Drivers, patience: Patience = {}): Promise<RunningHub> {
  await using opened = new AsyncDisposableStack();
  await makePrivateDirectory(settings.dataDir);
  const logFile = new LogFile(join(settings.dataDir, "hub.log"));
  opened.defer(() => logFile.close());
  const logger = createLogger(settings.logLevel, (line) => logFile.write(line));
  const limits = limitsOf(settings);
  let closeDrivers = async (): Promise<void> => undefined;
  opened.defer(() => closeDrivers());
  const openDrivers = async (): Promise<readonly SessionDriver[]> => {
    if (typeof drivers !== "function") return drivers;
    const local = await drivers({ dataDir: settings.dataDir, logger });
    closeDrivers = local.close;
    return local.drivers;
  };
  const { dataDir, auditHeads, policy, commandSeconds } = settings;
  const ours = placesOf(settings, process.env);
  const { heartbeat, mcpProgressMs, ...waiting } = patience;
  const door = { heartbeat, mcpProgressMs };
  const place = { url: settings.publicUrl ?? "" };
  const listening = Promise.withResolvers<void>();
  const reached = { url: () => place.url, reachable: listening.promise };
  const kept = { dataDir, limits, auditHeads, policy, ours, commandSeconds };
  const desks = await openDesks({ ...kept, openDrivers, logger, clock, ...waiting, ...reached });
  opened.defer(async () => {
    await desks.close();
    logger.info("the hub is down");
  });
  // Before the desks: what a desk that has stopped doesn't store must not be acknowledged.
  opened.defer(() => closeDrivers());
  logDecisions(desks.log, logger);
  const listeners: Listener[] = [];
  opened.defer(async () => {
    await Promise.all(listeners.map((it) => it.close()));
  });
  const tcp = await listenOnLoopback(settings.port);
  listeners.push(tcp);
  const { port } = tcp.server.address() as AddressInfo;
  place.url = settings.publicUrl ?? `http://${LOOPBACK}:${port}`;
  listening.resolve();
  const socketPath = join(settings.dataDir, "hub.sock");
  const ownerUid = process.geteuid?.() ?? 0;
  const isInside = (pid: number): boolean => {
    const hosts = new Set(desks.drivers.all.flatMap((it) => it.localPid ?? []));
    // A host itself is nobody's program.
    return !hosts.has(pid) && (isElsewhere(pid) || isBelow(pid, hosts));
  };
  const peerOf = await openPeerReader();
  const unix = await listenForOperator({ path: socketPath, peerOf, ownerUid, isInside });
  listeners.push(unix);

  const checks = () => hubChecks({ settings, ...desks, socketPath });
  const hub = await openDoors({ settings, desks, tcp, unix, port, url: place.url, checks, logger, door });
  const closing = opened.move();
  closing.defer(() => hub.ends.abort());
  return { ...hub, checks, close: () => closing.disposeAsync() };
}

type HubParts = {
  readonly settings: Settings;
  readonly desks: OpenDesks;
  readonly tcp: Listener;
  readonly unix: Listener;
  readonly port: number;
  readonly url: string;
  readonly checks: () => Promise<Check[]>;
  readonly logger: Logger;
  readonly door: Pick<DoorOptions, "heartbeat" | "mcpProgressMs">;
};

async function openDoors({ settings, desks, tcp, unix, port, url, checks, logger, door }: HubParts) {
  const { publicUrl } = settings;
  const person = userInfo().username;
  const ends = new AbortController();
  const loginCodes = new Passes<LoginPass>(clock, LOGIN_CODE_MS, newSecret);
  const tickets = new Passes<{ tokenId: string | undefined; name: string }>(clock, TICKET_MS, newSecret);
  const hubEnds = ends.signal;
  const secretDigest = await openSecretDigest(settings.dataDir);
  const passes = { loginCodes, tickets };
  const hidden = placesOf(settings, process.env);
  const parts = { desks, ...passes, port, publicUrl, url, hidden, checks, secretDigest, logger, hubEnds, ...door };
  const doors = await createDoors(parts);
  tcp.open(doors, { via: "tcp" });
  unix.open(doors, { via: "operator_socket", person });
  logger.info("the hub is up", { url, version: VERSION, pid: process.pid });
  return {
    url,
    port,
    ends,
    loginLink: () => `${url}/login#code=${loginCodes.issue("start", { name: person, role: "operator" }).secret}`,
  };
}

/** Ties the log lines to the log of events. Payloads stay out: they are for those who may see the session. */
function logDecisions(log: EventLog, logger: Logger): void {
  log.observe((events) => {
    for (const { type, sessionId, sequence, source } of events) {
      if (retentionOf(type) !== "activity") logger.info(type, { session: sessionId, sequence, by: source });
    }
  });
}

function limitsOf(settings: Settings) {
  return {
    activityMaxAgeMs: settings.keepActivityDays * DAY_MS,
    activityMaxBytes: settings.keepActivityMb * MB,
    auditMaxAgeMs: settings.keepAuditDays * DAY_MS,
    auditMaxBytes: settings.keepAuditMb * MB,
    outputMaxBytes: settings.keepOutputMb * MB,
  };
}
