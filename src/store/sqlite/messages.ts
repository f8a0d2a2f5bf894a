/**
 * What crosses between the main thread and the store's thread. Rows travel as flat arrays of numbers and one
 * string: cloning an object per event costs more than storing it.
 */
import type { EventType } from "../../domain/event.ts";
import type { ChainHead } from "../../domain/audit-chain.ts";
import type { Forwarded, OutboxChange, OutboxRow, Seen } from "../../hub/chat/outbox-port.ts";
import type { AuditHead, AuditPage, Credential, Pruned, RememberedAnswer, Retention } from "../../hub/ports.ts";

/** Stands for "no position", "no cursor" in a Float64Array. */
export const ABSENT = Number.NaN;

export const ANY_VERSION = -1;

/** Numbers per append in `AppendMessage.heads`: expected version, time, count of rows. */
export const HEAD_WIDTH = 3;

/** Numbers per event in `AppendMessage.rows`: type, source (index into `sources`), position, cursor. */
export const ROW_WIDTH = 4;

/** Several appends, in order; the thread stores them in one transaction. */
export type AppendMessage = {
  readonly kind: "append";
  readonly streams: readonly string[];
  readonly heads: Float64Array;
  readonly rows: Float64Array;
  readonly sources: readonly string[];
  /** JSON texts, separated by line feeds: JSON.stringify never emits one. */
  readonly payloads: string;
  readonly power: boolean;
};

export type PageRequest = {
  readonly after: number | undefined;
  /** What had been removed when this reader began at the oldest event: no loss to it. */
  readonly tolerated: number;
  readonly limit: number;
  readonly maxBytes: number;
  readonly sessionId: string | undefined;
  readonly types: readonly string[] | undefined;
};

/** Numbers per event in `Page.rows`: sequence, time, type, source, stream, position, cursor. */
export const PAGE_WIDTH = 7;

export type Page = {
  readonly rows: Float64Array;
  readonly streams: readonly string[];
  readonly sources: readonly string[];
  /** JSON texts, separated by commas: the elements of one array. */
  readonly payloads: string;
  /** Every match up to this sequence is in the page or before it. */
  readonly through: number;
  /** The largest removed sequence that the filter may have matched. */
  readonly removed: number;
};

export type PruneRequest = Omit<Retention, "keep" | "keepEvents"> & {
  readonly keep: readonly string[];
  readonly keepEvents: readonly number[];
  /** The newest event that the caller knew of: no decision after it is removed. */
  readonly through: number;
  readonly now: number;
};

/** What was removed, and the largest removed sequence of all times. */
export type PruneAnswer = Pruned & { readonly floor: number };

export type AnswerKey = { readonly scope: string; readonly key: string };

/** The calls of the store's thread: argument and result by name. */
export type Calls = {
  page: { argument: PageRequest; result: Page };
  last: { argument: { sessionId: string; type: EventType }; result: Page };
  lastPlaced: { argument: { sessionId: string }; result: Page };
  prune: { argument: PruneRequest; result: PruneAnswer };
  findHead: { argument: readonly AuditHead[]; result: ChainHead | undefined };
  auditPage: { argument: ChainHead | undefined; result: AuditPage | undefined };
  integrityCheck: { argument: undefined; result: string };
  allCredentials: { argument: undefined; result: readonly Credential[] };
  putCredential: { argument: Credential; result: void };
  removeCredentials: { argument: readonly string[]; result: void };
  getAnswer: { argument: AnswerKey; result: RememberedAnswer | undefined };
  putAnswer: { argument: AnswerKey & { answer: RememberedAnswer; at: number }; result: void };
  forgetAnswer: { argument: AnswerKey; result: void };
  pruneAnswers: { argument: { before: number }; result: void };
  changeOutbox: { argument: OutboxChange; result: readonly OutboxRow[] };
  outboxRows: { argument: undefined; result: readonly OutboxRow[] };
  outboxConsumed: { argument: undefined; result: number | undefined };
  outboxForwarded: { argument: undefined; result: readonly Forwarded[] };
  seenDelivery: { argument: Seen; result: Reaction | undefined };
  sawDelivery: { argument: Seen & { reaction: Reaction }; result: void };
  close: { argument: undefined; result: void };
};

type Reaction = { readonly notice?: string | undefined };

export type CallName = keyof Calls;

export type CallMessage = {
  [Name in CallName]: { kind: "call"; id: number; name: Name; argument: Calls[Name]["argument"] };
}[CallName];

export type ToThread = AppendMessage | CallMessage;

export type Opened = {
  readonly kind: "opened";
  readonly head: number;
  readonly lastAt: number;
  /** Name of each event type by its id in this file. */
  readonly types: readonly (string | undefined)[];
  readonly sqliteVersion: string;
  readonly schemaVersion: number;
  readonly chainId: string;
};

export type Failure = {
  readonly message: string;
  /** What the database said. */
  readonly cause: string;
  /** Nothing more can be stored before a restart. */
  readonly fatal: boolean;
  /** Set for a cursor that is no longer kept: the oldest that is. */
  readonly oldest?: number;
};

/**
 * `outcomes` answers the oldest unanswered appends, one number each: the first sequence, or for a conflict
 * `-1 - version`.
 */
export type FromThread =
  | Opened
  | { readonly kind: "unusable"; readonly sentence: string; readonly remedy: string; readonly cause: string }
  | { readonly kind: "appended"; readonly outcomes: Float64Array }
  | { readonly kind: "append_failed"; readonly count: number; readonly failure: Failure }
  | { readonly kind: "answer"; readonly id: number; readonly result: unknown }
  | { readonly kind: "failed"; readonly id: number; readonly failure: Failure };

export type ThreadData = {
  readonly file: string;
  /** Which run of the kernel this is; empty when the system can't tell. */
  readonly bootId: string;
  /** Epoch milliseconds. */
  readonly now: number;
};
