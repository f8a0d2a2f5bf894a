/**
 * What the desks need from the world. Each port has a contract suite (`*.contract.ts`) that every adapter passes;
 * adapters decide nothing.
 */
import type { Actor, Role } from "../domain/actor.ts";
import type { ControlState, SafePointAction } from "../domain/control-state.ts";
import type { ChainHead } from "../domain/audit-chain.ts";
import type { EventType, JsonObject, NewEvent, StoredEvent } from "../domain/event.ts";
import type { CommandForm, Session, SessionKind } from "../domain/session.ts";
import type { InputClass, SessionFrame, Size } from "../domain/session-frame.ts";
import type { ControlChange, GuardAbility, GuardTerms } from "../protocol/link.ts";

/** `process`: survives the death of this process. `power`: survives the loss of power. */
export type Durability = "process" | "power";

/** A stream's version is the sequence of its last event, 0 before the first. */
export type Version = number;

export type Appended =
  | { readonly ok: true; readonly events: readonly StoredEvent[] }
  | { readonly ok: false; readonly version: Version };

export type EventFilter = {
  readonly sessionId?: string | undefined;
  /** Absent: every type but the hub's housekeeping. */
  readonly types?: readonly EventType[] | undefined;
};

export type EventQuery = EventFilter & {
  /** Absent: from the oldest that is kept. */
  readonly after?: number | undefined;
  readonly limit: number;
};

/**
 * Events in order, in batches of at least one. Ends when the signal is aborted or the log closes. Throws
 * `CursorExpired` when what would come next is no longer kept.
 */
export type EventFeed = AsyncIterable<readonly StoredEvent[]>;

export type Retention = {
  readonly activityMaxAgeMs: number;
  readonly activityMaxBytes: number;
  readonly auditMaxAgeMs: number;
  readonly auditMaxBytes: number;
  /** Streams that still live: their `status` and `workspace` events are needed to rebuild them. */
  readonly keep: ReadonlySet<string>;
  /** Sequences of other events that something still waits for. */
  readonly keepEvents: ReadonlySet<number>;
  /** How far the audit lines are written: no decision after it is removed. Absent where nobody writes them. */
  readonly written?: ChainHead | undefined;
};

export type Pruned = { readonly activity: number; readonly audit: number };

export interface EventLog {
  /** Sequence of the newest stored event, 0 if there never was one. */
  readonly head: number;

  /**
   * Stores all of `events` or none. Resolves when they are stored to `durability`; `ok: false` means that the
   * stream moved on since `expected` and nothing was stored. Rejects with `StorageFailed` when it could not.
   */
  append(
    stream: string,
    expected: Version | "any",
    events: readonly NewEvent[],
    durability: Durability,
  ): Promise<Appended>;

  /**
   * At most `limit`, and fewer when they are large: only an empty page is the end. Throws `CursorExpired` when events
   * after the cursor that the filter may match are no longer kept.
   */
  read(query: EventQuery): Promise<readonly StoredEvent[]>;

  /** Every kept event of these types, oldest first, in batches; ends with the newest. */
  scan(types: readonly EventType[]): AsyncIterable<readonly StoredEvent[]>;

  /** The newest event of one type in one stream, if one is kept. */
  last(stream: string, type: EventType): Promise<StoredEvent | undefined>;

  /**
   * The event with the largest position in a stream, if one is kept: how far its host's frames were stored. It may not be
   * the newest with a position: an announcement of output can be stored behind an event that it precedes.
   */
  lastPlaced(stream: string): Promise<StoredEvent | undefined>;

  /** From stored to live without a gap and without a repeat. A slow reader holds back nobody. */
  subscribe(query: Omit<EventQuery, "limit">, signal: AbortSignal): EventFeed;

  /** Called for every stored event, in order, before its append resolves. Must be quick and must not throw. */
  observe(listener: (events: readonly StoredEvent[]) => void): Disposable;

  prune(retention: Retention): Promise<Pruned>;

  close(): Promise<void>;
}

export class CursorExpired extends Error {
  override readonly name = "CursorExpired";
  /** The smallest cursor that can still be read from. */
  readonly oldest: number;

  constructor(oldest: number) {
    super(`events up to ${oldest} are no longer kept`);
    this.oldest = oldest;
  }
}

export class StorageFailed extends Error {
  override readonly name = "StorageFailed";
}

/** By then, in epoch milliseconds, so many bytes were there. */
export type Reached = readonly [atMs: number, offset: number];

/** A session's output, addressed by byte offset. */
export interface ByteStore {
  /** Offset just after the last stored byte. */
  size(stream: string): Promise<number>;
  /** Offset of the first byte that is still kept. */
  oldest(stream: string): Promise<number>;
  /**
   * Stores `bytes` at `offset`, which must be the present size; `ok: false` answers the present size, so that a
   * resumed sender neither repeats nor skips. Rejects with `StorageFailed`.
   */
  append(stream: string, offset: number, bytes: Uint8Array): Promise<{ readonly ok: boolean; readonly size: number }>;
  /** At most `maxBytes` from `offset`; empty at the end. Throws `CursorExpired` before the oldest. */
  read(stream: string, offset: number, maxBytes: number): Promise<Uint8Array>;
  /** The largest indexed offset that had been reached at `atMs`. */
  offsetAt(stream: string, atMs: number): Promise<number>;
  /** All that is indexed of when which offset was reached, oldest first: at most some thousands for a segment. */
  times(stream: string): Promise<readonly Reached[]>;
  /** Removes whole old segments until at most `maxBytes` of this stream are left (plus the newest segment). */
  prune(stream: string, maxBytes: number): Promise<number>;
  streams(): Promise<readonly string[]>;
  remove(stream: string): Promise<void>;
  close(): Promise<void>;
}

export type Credential = {
  readonly tokenId: string;
  readonly kind: "token" | "cookie";
  readonly role: Role;
  readonly name: string;
  /** SHA-256 of the secret, hex. */
  readonly hash: string;
  readonly createdAt: string;
  readonly expiresAt?: string;
  readonly revokedAt?: string;
};

export interface CredentialStore {
  all(): Promise<readonly Credential[]>;
  /** Resolves when it would survive the loss of power. */
  put(credential: Credential): Promise<void>;
  remove(tokenIds: readonly string[]): Promise<void>;
}

export type RememberedAnswer =
  | { readonly state: "started"; readonly inputHash: string }
  | { readonly state: "done"; readonly inputHash: string; readonly answer: JsonObject };

/** What was answered to an Idempotency-Key. */
export interface AnswerStore {
  get(scope: string, key: string): Promise<RememberedAnswer | undefined>;
  put(scope: string, key: string, answer: RememberedAnswer): Promise<void>;
  forget(scope: string, key: string): Promise<void>;
  prune(olderThanMs: number): Promise<void>;
}

/** Where an audit line stands, as far as the line says. */
export type AuditHead = {
  readonly sequence: number;
  readonly checkpoint?: number | undefined;
  readonly chain: string;
};

export type AuditPage = { readonly lines: readonly string[]; readonly end: ChainHead };

/** The chain over all decisions, as audit lines. */
export interface AuditTrail {
  readonly chainId: string;
  /** The first of these that is a place in the chain. */
  find(heads: readonly AuditHead[]): Promise<ChainHead | undefined>;
  /** What follows a place, or all that is kept; undefined at the end. What it answers survives the loss of power. */
  after(place: ChainHead | undefined): Promise<AuditPage | undefined>;
}

/** The audit lines, where people and their tools read them. */
export interface AuditFile {
  /** The newest lines that are whole, newest first. Repairs a torn end. */
  newest(): Promise<readonly AuditHead[]>;
  /** Resolves when they would survive the loss of power; rejects with nothing appended. */
  append(lines: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export type KeptHead = {
  readonly chainId: string;
  readonly dataDir: string;
  readonly sequence: number;
  readonly checkpoint: number;
  readonly chain: string;
  /** Where it is kept, for messages. */
  readonly place: string;
};

/** Keeps the newest head of the chain outside the store, so that a truncated store can be told. */
export interface HeadKeeper {
  keep(head: ChainHead): Promise<void>;
  /** Those of this chain, and those of any chain that this data directory had. */
  heads(): Promise<readonly KeptHead[]>;
}

/** What is wrong with a policy file, and what to do. */
export type PolicyProblem = {
  readonly file: string;
  /** From 1. Absent: it is the file itself. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly message: string;
  readonly remedy: string;
};

/** A policy file as it stands: `value` is what its YAML says, absent where there are problems. */
export type PolicyDocument = {
  readonly path: string;
  /** Absent: the global one. */
  readonly workspaceId?: string | undefined;
  readonly value?: unknown;
  readonly problems: readonly PolicyProblem[];
  /** Where something in `value` stands; of what isn't there, where it would. */
  readonly locate: (way: readonly PropertyKey[]) => { readonly line: number; readonly column: number };
};

export interface PolicyFiles {
  /** All that there are, the global one first. Never rejects for what is wrong with a file: that is a problem of it. */
  read(): Promise<readonly PolicyDocument[]>;
  /** Calls when the files have changed and rest again. */
  watch(onChange: () => void): Disposable;
}

export const CHANNEL_KINDS = ["telegram", "slack"] as const;
export type ChannelKind = (typeof CHANNEL_KINDS)[number];

export type ChannelPerson = {
  /** The platform's, which people can't choose. */
  readonly id: string;
  readonly name: string;
  readonly role: "operator";
};

/** A chat platform that people are reached by. Holds its secrets. */
export type ChannelConfig = {
  readonly name: string;
  readonly kind: ChannelKind;
  readonly token: string;
  /** Of Slack: for its socket. */
  readonly appToken?: string | undefined;
  /** Absent: the platform's own. */
  readonly apiRoot?: string | undefined;
  readonly people: readonly ChannelPerson[];
  /** The thread for what no thread of its own is there for. */
  readonly home?: string | undefined;
  /** The person by whom it became that. */
  readonly homeOf?: string | undefined;
};

/** `problem`: they are there, but can't be read. */
export type StoredChannels =
  | { readonly ok: true; readonly channels: readonly ChannelConfig[] }
  | { readonly ok: false; readonly problem: string };

export interface ChannelSettings {
  /** For people: where they are kept. */
  readonly place: string;
  read(): Promise<StoredChannels>;
  /** All of them or nothing, for the owner alone. */
  write(channels: readonly ChannelConfig[]): Promise<void>;
}

export interface Clock {
  /** Wall clock, for display and record. */
  now(): number;
}

/** Takes a session's frames in order; resolves when they are stored, which is what may be acknowledged. */
export type SessionIntake = (frames: readonly SessionFrame[]) => Promise<void>;

export type DriverInput = {
  readonly bytes: Uint8Array;
  /** Instead of bytes: names of keys, which the terminal's present modes turn into bytes. */
  readonly keys?: readonly string[] | undefined;
  readonly by: Actor;
  readonly class: InputClass;
  /** Goes in only if this prompt instance still waits. */
  readonly ifPrompt?: string | undefined;
  /** Refused with `shell_idle` at an idle shell prompt. */
  readonly notAtShell?: boolean | undefined;
  /** Never recorded, whatever the terminal echoes. */
  readonly secret?: boolean | undefined;
  /** Refused with `stale_epoch` when control has changed hands since. Absent: as it is now. */
  readonly epoch?: number | undefined;
};

export type InputTaken = {
  readonly position: number;
  /** Where the output stood: what it causes comes after. */
  readonly cursor: number;
  /** How many went in: keys are counted as what they send. */
  readonly bytes: number;
};

export type StartTerms = Size & {
  /** A person attends it from its beginning. */
  readonly attended?: boolean;
  /** Where nobody attends or holds, agents take control by themselves. Absent: they do. */
  readonly agentsMayAcquire?: boolean;
  /** Absent: the home. */
  readonly cwd?: string | undefined;
  /** With containment `user`: whose account. */
  readonly user?: string | undefined;
  /** With containment `guard`: what the workspace adds to it. */
  readonly guard?: GuardTerms | undefined;
  /** For one command alone. */
  readonly command?: CommandForm | undefined;
};

/** What a gate says of control: the state now, and where the log has, or will have, it. */
export type ControlAnswer = {
  readonly state: ControlState;
  readonly position: number;
  readonly action?: SafePointAction;
};

/** What is known of a session when it is taken up: how far it is stored, and who acted in it. */
export type KnownSession = {
  readonly order: number;
  readonly cursor?: number | undefined;
  readonly actors?: readonly Actor[] | undefined;
};

/** `away`: its host can't be reached now, so nobody knows. */
export type Adoption = "running" | "gone" | "away";

/**
 * Runs one kind of session on one host. Failures that a caller may see are `AppError`s: a refusal of the gate with its
 * code, `host_offline` when nothing was sent, `unknown_outcome` when the answer got lost.
 */
export interface SessionDriver {
  readonly kind: SessionKind;
  readonly hostId: string;
  readonly online: boolean;
  /** Sessions that its host had when it was reached last, known to the hub or not. */
  readonly hosted: readonly string[];
  /** Of its host, if that runs on this machine: whatever is below it runs in a session. */
  readonly localPid?: number | undefined;
  /** What its host can guard; absent where it never told. */
  readonly guard?: GuardAbility | undefined;
  start(session: Session, terms: StartTerms, intake: SessionIntake): Promise<void>;
  /**
   * After a restart: everything after `known.order` comes into `intake` again. `running` only once all that the host
   * had by then is stored.
   */
  adopt(session: Session, known: KnownSession, intake: SessionIntake): Promise<Adoption>;
  /** Answers the place at which the gate took it. */
  input(sessionId: string, input: DriverInput): Promise<InputTaken>;
  /** The session's gate decides. Never behind input that is on its way. */
  control(sessionId: string, change: ControlChange): Promise<ControlAnswer>;
  /** Called when an input changed control: the log will say the same a moment later. */
  onControl(listener: (sessionId: string, answer: ControlAnswer) => void): void;
  resize(sessionId: string, size: Size, by: Actor): Promise<void>;
  stop(sessionId: string): Promise<void>;
  /** Stops what the hub has no use for, and lets its host forget it: what it still tells is stored nowhere. */
  discard(sessionId: string): Promise<void>;
  /** Called when the host was away and is back: what it had may be adopted again. */
  onReturn(listener: () => void): void;
}
