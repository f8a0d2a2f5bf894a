/** Opens the stores of one data directory and sets the desks over them: the hub without its doors. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import type { ChannelMaker } from "../hub/chat/channel-desk.ts";
import type { OutboxStore } from "../hub/chat/outbox-port.ts";
import type { MLClassifier } from "../domain/prompts/fuser.ts";
import { AnswerDesk } from "../hub/answer-desk.ts";
import { ApprovalDesk } from "../hub/approval-desk.ts";
import { ControlDesk } from "../hub/control-desk.ts";
import { AuditWriter } from "../hub/audit-writer.ts";
import { CredentialDesk } from "../hub/credential-desk.ts";
import { DriverTable } from "../hub/driver-table.ts";
import { HistoryDesk } from "../hub/history-desk.ts";
import { HostDesk, type HostDeskParts } from "../hub/host-desk.ts";
import { Journal } from "../hub/journal.ts";
import { KeptScreens } from "../hub/kept-screens.ts";
import { OutputDesk } from "../hub/output-desk.ts";
import type { Pace } from "../hub/pace.ts";
import { PolicyDesk } from "../hub/policy-desk.ts";
import type { Clock, SessionDriver } from "../hub/ports.ts";
import { Recordings } from "../hub/recording.ts";
import { RetentionDesk, type RetentionLimits } from "../hub/retention-desk.ts";
import { SessionDesk, type SessionDeskParts } from "../hub/session-desk.ts";
import { WorkspaceDesk } from "../hub/workspace-desk.ts";
import type { Session } from "../domain/session.ts";
import type { Logger } from "../lib/logger.ts";
import { RemoteHosts } from "../server/hosts/remote-hosts.ts";
import { HeadFiles } from "../store/audit/head-files.ts";
import { JsonLinesFile } from "../store/audit/json-lines-file.ts";
import { SegmentByteStore } from "../store/segments/segment-byte-store.ts";
import { openSqliteStore, type SqliteStore } from "../store/sqlite/sqlite-store.ts";
import { PolicyDirectory } from "../store/policy/policy-directory.ts";
import { AUDIT_FILE } from "./audit.ts";
import { chatDesks, type ChatParts } from "./chat-desks.ts";
import { hostFacts } from "./host-facts.ts";
import { policyPlaces } from "./settings.ts";
import { terminalDesks } from "./terminal-desks.ts";

export type DeskOptions = {
  readonly dataDir: string;
  /** Opened once the store is ours: a second hub on the same directory must not take the hosts from the first. */
  readonly openDrivers: () => Promise<readonly SessionDriver[]>;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly limits: RetentionLimits;
  /** Where the audit head is kept; absent: in the audit file alone. */
  readonly auditHeads?: string | undefined;
  /** The policy file; absent: that of the data directory, if there is one. */
  readonly policy?: string | undefined;
  /** What of ours no agent may write. */
  readonly ours?: readonly string[] | undefined;
  /** How long a session stays interactive when its last viewer with input is gone. */
  readonly graceMs?: number | undefined;
  /** How long a question of a program can be answered before it is offered anew. */
  readonly promptTtlMs?: number | undefined;
  /** How long programs are waited for; what is absent is the product's. */
  readonly pace?: Partial<Pace> | undefined;
  /** Adapters of chat platforms; absent: the product's. */
  readonly maker?: ChannelMaker | undefined;
  /** Between the desks and what is kept of chats. */
  readonly chatStore?: ((kept: OutboxStore) => OutboxStore) | undefined;
  readonly leaving?: ChatParts["leaving"];
  /** Somebody's own; none comes with us. */
  readonly ml?: MLClassifier | undefined;
  /** Where people reach the hub, once it listens; absent: nowhere. */
  readonly url?: (() => string) | undefined;
  /** The longest that an interactive command of a project may run. */
  readonly commandSeconds?: number | undefined;
  /** Resolves when it does. */
  readonly reachable?: Promise<void> | undefined;
};

/** Of seed 002. */
const COMMAND_SECONDS = 300;

type StoredOptions = DeskOptions & Pick<SessionDeskParts, "hidden">;

export type OpenDesks = Awaited<ReturnType<typeof openDesks>>;

export const LOCAL_HOST = "local";

export const newId = (): string => randomUUID();
/** None begins with a dash: a person pastes it behind an option. */
export function newSecret(): string {
  for (;;) {
    const secret = randomBytes(32).toString("base64url");
    if (!secret.startsWith("-")) return secret;
  }
}

export const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Rejects with `StoreUnusable` when the directory can't serve, with `PolicyBroken` when a policy file can't. */
export async function openDesks(options: DeskOptions) {
  const policy = await policyDesk(options);
  try {
    await policy.start();
    const hidden = options.policy === undefined ? [] : [dirname(options.policy)];
    const desks = await openStoredDesks({ ...options, hidden }, policy);
    const close = async (): Promise<void> => {
      policy.stop();
      await desks.close();
    };
    return { ...desks, policy, close };
  } catch (error) {
    policy.stop();
    throw error;
  }
}

async function policyDesk({ dataDir, policy, ours = [dataDir], logger }: DeskOptions): Promise<PolicyDesk> {
  const { parse } = await import("unbash");
  return new PolicyDesk({ files: new PolicyDirectory(policyPlaces({ dataDir, policy })), parse, logger, ours });
}

async function openStoredDesks(options: StoredOptions, policies: PolicyDesk) {
  const { dataDir, openDrivers, logger, clock, limits, promptTtlMs, pace, ml, url = () => "" } = options;
  const store = await openSqliteStore(dataDir, { now: () => clock.now() });
  const drivers = await openTable(openDrivers, store);
  const bytes = new SegmentByteStore(dataDir, { now: () => clock.now() });
  const base = baseDesks(options, { store, drivers, bytes });
  const { workspaces, credentials, control, sessions, approvals, output } = base;
  const { hosts, ...reaching } = hostDesks({ ...options, ...base, store, drivers });
  const making = { newId, newSecret, digest, clock, logger };
  const { commandSeconds = COMMAND_SECONDS } = options;
  const asking = { policies, localHostId: LOCAL_HOST, promptTtlMs, pace, commandSeconds, ml, url };
  const terminal = terminalDesks({ ...base, ...asking, ...making });
  const { chatStore = (kept: OutboxStore) => kept } = options;
  const outboxStore = chatStore(store.outbox);
  const chats = chatDesks({ ...options, ...terminal.desks, ...base, ...making, outboxStore });
  const audit = auditWriter(store, options);
  const kept = { log: store.events, bytes, answers: store.answers, audit };
  const retention = new RetentionDesk({ ...kept, sessions, approvals, ...terminal.desks, clock, logger, limits });
  const closeStores = () => closeInTurn([audit, bytes, store]);

  // Each builds on those before it.
  const inTurn = [workspaces, credentials, hosts, terminal, control, sessions, approvals, ...terminal.talking, chats];
  try {
    await audit.catchUp();
    for (const desk of inTurn) await desk.start();
  } catch (error) {
    await hosts.stop();
    await closeStores();
    throw error;
  }
  retention.start();

  const close = async (): Promise<void> => {
    await Promise.all([retention.stop(), chats.stop()]);
    await hosts.stop();
    for (const desk of [approvals, control, credentials]) desk.stop();
    await output.stop();
    await terminal.close();
    await closeStores();
  };
  const { channels } = chats;
  const stored = { drivers, store, log: store.events, bytes, audit, retention };
  return {
    ...stored,
    ...base,
    ...terminal.desks,
    ...lookingBack({ ...stored, ...base, clock }),
    hosts,
    ...reaching,
    chats,
    channels,
    close,
  };
}

type Stored = {
  readonly store: SqliteStore;
  readonly bytes: SegmentByteStore;
  readonly drivers: DriverTable;
};

function baseDesks({ clock, logger, hidden, graceMs }: StoredOptions, { store, bytes, drivers }: Stored) {
  const journal = new Journal(store.events);
  const output = new OutputDesk(bytes, journal, logger);
  const workspaces = new WorkspaceDesk(journal, LOCAL_HOST);
  const control = new ControlDesk({ journal, drivers, workspaces, logger, graceMs });
  const sessions = new SessionDesk({ journal, output, workspaces, control, drivers, logger, newId, hidden });
  const approvals = new ApprovalDesk({ journal, sessions, workspaces, clock, logger, newId, digest });
  endApprovalsOnLoss(control, approvals);
  const credentials = new CredentialDesk({ store: store.credentials, journal, clock, newId, newSecret, digest });
  const answers = new AnswerDesk(store.answers);
  return { journal, output, workspaces, control, sessions, approvals, credentials, answers };
}

type Looking = Pick<ReturnType<typeof baseDesks>, "output" | "sessions"> & {
  readonly log: SqliteStore["events"];
  readonly bytes: SegmentByteStore;
  readonly clock: Clock;
};

function lookingBack(parts: Looking) {
  const screens = new KeptScreens(parts.log);
  const history = new HistoryDesk({ ...parts, screens });
  return { history, recordings: new Recordings({ ...parts, history, screens }) };
}

async function openTable(openDrivers: DeskOptions["openDrivers"], store: SqliteStore): Promise<DriverTable> {
  return new DriverTable(
    await openDrivers().catch((error: unknown) => store.close().then(() => Promise.reject(error))),
  );
}

type HostParts = Pick<HostDeskParts, "journal" | "credentials" | "workspaces" | "drivers" | "clock" | "logger"> & {
  readonly store: SqliteStore;
  readonly sessions: SessionDesk;
};

function hostDesks({ store, sessions, ...parts }: HostParts) {
  const isOpen = (it: Session): boolean => it.status !== "closed";
  const remotes = new RemoteHosts(parts.logger);
  const hubId = store.audit.chainId;
  const hosts = new HostDesk({
    ...parts,
    openRemote: (hostId, listener) => remotes.open(hostId, listener),
    openSessions: (hostId) => sessions.list().filter((it) => it.hostId === hostId && isOpen(it)).length,
    local: { hostId: LOCAL_HOST, facts: hostFacts() },
    hubId,
    newId,
    newSecret,
  });
  return { hosts, remotes, hubId };
}

async function closeInTurn(stores: readonly { readonly close: () => Promise<void> }[]): Promise<void> {
  for (const it of stores) await it.close();
}

type AuditOptions = Pick<DeskOptions, "dataDir" | "auditHeads" | "logger">;

function auditWriter({ events: log, audit: trail }: SqliteStore, { dataDir, auditHeads, logger }: AuditOptions) {
  const owner = { chainId: trail.chainId, dataDir };
  const keeper = auditHeads === undefined ? undefined : new HeadFiles(auditHeads, owner);
  return new AuditWriter({ log, trail, file: new JsonLinesFile(join(dataDir, AUDIT_FILE)), keeper, logger });
}

function endApprovalsOnLoss(control: ControlDesk, approvals: ApprovalDesk): void {
  control.onLoss(({ sessionId, agentId, state: { reason } }) => {
    // A restart takes control away, but what an agent asked by itself is still to be answered.
    const only = { agentId, bound: reason === "restart" };
    approvals.endIn(sessionId, reason === "stop_now" ? "stopped" : "revoked", only);
  });
}
