/** Opens the stores of one data directory and sets the desks over them: the hub without its doors. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { AnswerDesk } from "../hub/answer-desk.ts";
import { ApprovalDesk } from "../hub/approval-desk.ts";
import { ControlChanges } from "../hub/control-changes.ts";
import { ControlDesk } from "../hub/control-desk.ts";
import { AuditWriter } from "../hub/audit-writer.ts";
import { CredentialDesk } from "../hub/credential-desk.ts";
import { FreshShells } from "../hub/fresh-shells.ts";
import { Journal } from "../hub/journal.ts";
import { OutputDesk } from "../hub/output-desk.ts";
import type { Clock, SessionDriver } from "../hub/ports.ts";
import { RetentionDesk, type RetentionLimits } from "../hub/retention-desk.ts";
import { Conversations } from "../hub/conversations.ts";
import { BlockDesk } from "../hub/block-desk.ts";
import { OpenContinuation } from "../hub/open-continuation.ts";
import { OutputReader } from "../hub/output-reader.ts";
import { Redactions } from "../hub/redactions.ts";
import { Tape } from "../hub/tape.ts";
import { TerminalDesk } from "../hub/terminal-desk.ts";
import { WaitDesk } from "../hub/wait-desk.ts";
import { SessionDesk } from "../hub/session-desk.ts";
import { WorkspaceDesk } from "../hub/workspace-desk.ts";
import type { Logger } from "../lib/logger.ts";
import { Patterns } from "../lib/patterns.ts";
import { RenderedScreens } from "./rendered-screens.ts";
import { HeadFiles } from "../store/audit/head-files.ts";
import { JsonLinesFile } from "../store/audit/json-lines-file.ts";
import { SegmentByteStore } from "../store/segments/segment-byte-store.ts";
import { openSqliteStore, type SqliteStore } from "../store/sqlite/sqlite-store.ts";
import { AUDIT_FILE } from "./audit.ts";

export type DeskOptions = {
  readonly dataDir: string;
  /** Opened once the store is ours: a second hub on the same directory must not take the hosts from the first. */
  readonly openDrivers: () => Promise<readonly SessionDriver[]>;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly limits: RetentionLimits;
  /** Where the audit head is kept; absent: in the audit file alone. */
  readonly auditHeads?: string | undefined;
  /** How long a session stays interactive when its last viewer with input is gone. */
  readonly graceMs?: number | undefined;
};

export type OpenDesks = Awaited<ReturnType<typeof openDesks>>;

export const LOCAL_HOST = "local";

export const newId = (): string => randomUUID();
export const newSecret = (): string => randomBytes(32).toString("base64url");
export const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Rejects with `StoreUnusable` when the directory can't serve; then nothing was changed. */
export async function openDesks(options: DeskOptions) {
  const { dataDir, openDrivers, logger, clock, limits, auditHeads, graceMs } = options;
  const store = await openSqliteStore(dataDir, { now: () => clock.now() });
  const drivers = await openDrivers().catch((error: unknown) => store.close().then(() => Promise.reject(error)));
  const bytes = new SegmentByteStore(dataDir, { now: () => clock.now() });
  const journal = new Journal(store.events);
  const output = new OutputDesk(bytes, journal, logger);
  const workspaces = new WorkspaceDesk(journal, LOCAL_HOST);
  const control = new ControlDesk({ journal, drivers, workspaces, logger, graceMs });
  const sessions = new SessionDesk({ journal, output, workspaces, control, drivers, logger, newId });
  const approvals = new ApprovalDesk({ journal, sessions, workspaces, clock, logger, newId, digest });
  endApprovalsOnLoss(control, approvals);
  const credentials = new CredentialDesk({ store: store.credentials, journal, clock, newId, newSecret, digest });
  const answers = new AnswerDesk(store.answers);
  const terminal = terminalDesks({ journal, output, sessions, control, approvals, workspaces });
  const audit = auditWriter(store, { dataDir, auditHeads, logger });
  const kept = { log: store.events, bytes, answers: store.answers, audit };
  const retention = new RetentionDesk({ ...kept, sessions, approvals, clock, logger, limits });

  try {
    await audit.catchUp();
    // Each builds on those before it.
    for (const desk of [workspaces, credentials, terminal, control, sessions, approvals]) await desk.start();
  } catch (error) {
    await audit.close();
    await bytes.close();
    await store.close();
    throw error;
  }
  retention.start();

  const close = async (): Promise<void> => {
    await retention.stop();
    approvals.stop();
    control.stop();
    credentials.stop();
    await output.stop();
    await terminal.close();
    await audit.close();
    await bytes.close();
    await store.close();
  };
  return {
    drivers,
    store,
    journal,
    log: store.events,
    bytes,
    output,
    workspaces,
    sessions,
    control,
    changes: terminal.changes,
    shells: new FreshShells(sessions),
    terminals: terminal.desk,
    approvals,
    credentials,
    answers,
    audit,
    retention,
    close,
  };
}

type AuditOptions = Pick<DeskOptions, "dataDir" | "auditHeads" | "logger">;

function auditWriter({ events: log, audit: trail }: SqliteStore, { dataDir, auditHeads, logger }: AuditOptions) {
  const owner = { chainId: trail.chainId, dataDir };
  const keeper = auditHeads === undefined ? undefined : new HeadFiles(auditHeads, owner);
  return new AuditWriter({ log, trail, file: new JsonLinesFile(join(dataDir, AUDIT_FILE)), keeper, logger });
}

function endApprovalsOnLoss(control: ControlDesk, approvals: ApprovalDesk): void {
  control.onLoss(({ sessionId, agentId, state: { reason } }) => {
    // A restart takes control away, but what was asked is still to be answered.
    if (reason !== "restart") approvals.endIn(sessionId, reason === "stop_now" ? "stopped" : "revoked", agentId);
  });
}

type TerminalParts = {
  readonly journal: Journal;
  readonly output: OutputDesk;
  readonly sessions: SessionDesk;
  readonly control: ControlDesk;
  readonly approvals: ApprovalDesk;
  readonly workspaces: WorkspaceDesk;
};

function terminalDesks({ journal, output, sessions, control, approvals, workspaces }: TerminalParts) {
  const { log } = journal;
  const blocks = new BlockDesk(journal);
  const reader = new OutputReader(output, new Redactions(log));
  const patterns = new Patterns();
  const screens = new RenderedScreens();
  const tape = new Tape(log, output);
  const waits = new WaitDesk({ tape, patterns, screens, keyframe: tape.keyframe.bind(tape) });
  const conversations = new Conversations(sessions);
  const openings = new OpenContinuation({ approvals, control, conversations, sessions, workspaces, newId });
  const desk = new TerminalDesk({ sessions, control, conversations, openings, blocks, waits, reader, newId });
  const changes = new ControlChanges({ control, blocks, reader });
  const close = async (): Promise<void> => {
    await patterns.close();
    await screens.close();
  };
  return { desk, changes, start: () => blocks.start(), close };
}
