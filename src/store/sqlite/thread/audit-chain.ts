/**
 * The chain as it is being written: every decision is linked to the one before it in the transaction that stores it,
 * and every removal of decisions leaves a checkpoint in the transaction that removes them. Rules AUD-1..AUD-4.
 */
import { hash, randomUUID } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import {
  CHAIN_START,
  type ChainedEvent,
  type Checkpoint,
  checkpointBody,
  eventBody,
  firstCheckpoint,
  foldRecord,
  linkTo,
  readCheckpoint,
} from "../../../domain/audit-chain.ts";
import { AUDIT_ROWS, type AuditRow, eventOf, packLink, unpackLink } from "../audit-rows.ts";
import { damaged } from "../store-unusable.ts";

export const sha256 = (text: string): string => hash("sha256", text, "hex");

/** Rows held in memory while an older store is taken over. */
const TAKEN_OVER_ROWS = 1_000;

type State = { readonly tail: string; readonly last: number; readonly newest: Checkpoint };

/** What a checkpoint says anew; the rest it takes over from the one before. */
type Change = Partial<Pick<Checkpoint, "base" | "kept" | "manifest" | "removed" | "removals">>;

export class AuditChain {
  readonly #db: DatabaseSync;
  readonly #insertCheckpoint: StatementSync;
  readonly #linkOf: StatementSync;
  readonly #remember: StatementSync;
  #state: State | undefined;

  constructor(db: DatabaseSync, file: string) {
    this.#db = db;
    this.#insertCheckpoint = db.prepare("INSERT INTO audit_checkpoints VALUES (?, ?, ?, unhex(?))");
    this.#linkOf = db.prepare("SELECT chain FROM events WHERE sequence = ?");
    this.#remember = db.prepare("INSERT INTO audit_removed (sequence, chain) VALUES (?, ?)");
    this.#state = readState(db, file);
  }

  /** Inside a transaction, before anything else: a store without a chain gets one over what it holds. */
  begin(at: number): void {
    if (this.#state !== undefined) return;
    const rows = this.#db.prepare(AUDIT_ROWS);
    const first = rows.get(0, Number.MAX_SAFE_INTEGER, 1);
    const reason = first === undefined ? "begun" : "taken_over";
    const newest = firstCheckpoint({ chainId: randomUUID(), reason, timestamp: new Date(at).toISOString() });
    this.#state = { tail: CHAIN_START, last: 0, newest };
    this.#record(newest);
    const update = this.#db.prepare("UPDATE events SET chain = ? WHERE sequence = ?");
    for (let after = 0; ;) {
      const page = rows.all(after, Number.MAX_SAFE_INTEGER, TAKEN_OVER_ROWS) as unknown as AuditRow[];
      for (const row of page) update.run(this.link(eventOf(row)), row.sequence);
      if (page.length === 0) return;
      after = page.at(-1)!.sequence;
    }
  }

  get newest(): Checkpoint {
    return this.#present.newest;
  }

  /** What is stored with the event, which must be the next. */
  link(event: ChainedEvent): Buffer {
    const link = linkTo(this.#present.tail, eventBody(event, sha256), sha256);
    this.#state = { ...this.#present, tail: link.chain, last: event.sequence };
    return packLink(link);
  }

  /** Inside the transaction that removes these rows, before they are gone. */
  remove(sequences: readonly number[], at: number): void {
    if (sequences.length === 0) return;
    let { removals } = this.#present.newest;
    for (const sequence of sequences) {
      const stored = (this.#linkOf.get(sequence)?.["chain"] ?? new Uint8Array()) as Uint8Array;
      this.#remember.run(sequence, stored);
      removals = foldRecord(removals, { sequence, ...unpackLink(stored) }, sha256);
    }
    this.checkpoint({ removed: this.#present.newest.removed + sequences.length, removals }, at);
  }

  /** Inside a transaction. */
  checkpoint(change: Change, at: number): void {
    const { newest, last } = this.#present;
    const stamp = { id: newest.id + 1, after: last, timestamp: new Date(at).toISOString(), reason: "removed" } as const;
    this.#record({ ...newest, ...stamp, ...change });
  }

  get state(): State | undefined {
    return this.#state;
  }

  /** After a rollback: what was linked in the meantime isn't in the file. */
  restore(state: State | undefined): void {
    this.#state = state;
  }

  get #present(): State {
    if (this.#state === undefined) throw new Error("the chain has not begun");
    return this.#state;
  }

  #record(checkpoint: Checkpoint): void {
    const body = checkpointBody(checkpoint);
    const { chain } = linkTo(this.#present.tail, body, sha256);
    this.#insertCheckpoint.run(checkpoint.id, checkpoint.after, body, chain);
    this.#state = { ...this.#present, tail: chain, newest: checkpoint };
  }
}

/** Undefined for a store that never had a chain. */
function readState(db: DatabaseSync, file: string): State | undefined {
  const stored = db.prepare("SELECT body, hex(chain) AS chain FROM audit_checkpoints ORDER BY id DESC LIMIT 1").get();
  const event = lastEvent(db);
  if (stored === undefined) {
    if (event !== undefined && event.chain !== "") throw damaged(file, "its audit checkpoints are gone");
    return undefined;
  }
  const newest = readCheckpoint(String(stored["body"]));
  if (newest === undefined) throw damaged(file, "its newest audit checkpoint is not what was written");
  if (event !== undefined && event.sequence > newest.after) return { tail: event.chain, last: event.sequence, newest };
  return { tail: String(stored["chain"]).toLowerCase(), last: newest.after, newest };
}

function lastEvent(db: DatabaseSync): { sequence: number; chain: string } | undefined {
  const ofClass = (id: number): string =>
    `SELECT * FROM (SELECT sequence, chain FROM events INDEXED BY events_to_keep
     WHERE class > 0 AND class = ${id} ORDER BY sequence DESC LIMIT 1)`;
  const row = db.prepare(`${ofClass(1)} UNION ALL ${ofClass(2)} ORDER BY sequence DESC LIMIT 1`).get();
  if (row === undefined) return undefined;
  return { sequence: Number(row["sequence"]), chain: unpackLink(row["chain"] as Uint8Array | null).chain };
}
