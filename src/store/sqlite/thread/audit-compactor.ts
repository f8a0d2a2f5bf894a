/**
 * Keeps the chain's own records few. What was removed is remembered one by one until there is much of it; then a
 * checkpoint vouches for the records that are left up to a place that is kept outside the store, and what was remembered
 * up to there goes. Never beyond that place: else the head outside would lead nowhere. Rule AUD-4.
 */
import type { StatementSync } from "node:sqlite";
import { type ChainHead, foldRecord } from "../../../domain/audit-chain.ts";
import { unpackLink } from "../audit-rows.ts";
import { type AuditChain, sha256 } from "./audit-chain.ts";
import type { AuditTrailReader } from "./audit-trail.ts";
import type { Connection } from "./connection.ts";

/** Removed records that are remembered whatever is kept, and as a share of what is kept. */
const FEW = 1_000;
const SHARE = 0.25;

const CHUNK_ROWS = 2_000;

type LinkRow = { readonly sequence: number; readonly chain: Uint8Array | null };

export class AuditCompactor {
  readonly #connection: Connection;
  readonly #chain: AuditChain;
  readonly #trail: AuditTrailReader;
  readonly #links: StatementSync;
  readonly #removed: StatementSync;
  readonly #forgetRemoved: StatementSync;
  readonly #forgetCheckpoints: StatementSync;

  constructor(connection: Connection, chain: AuditChain, trail: AuditTrailReader) {
    this.#connection = connection;
    this.#chain = chain;
    this.#trail = trail;
    const { db } = connection;
    this.#links = db.prepare(`${links(1)} UNION ALL ${links(2)} ORDER BY sequence LIMIT ${CHUNK_ROWS}`);
    this.#removed = db.prepare("SELECT sequence, chain FROM audit_removed ORDER BY id");
    this.#forgetRemoved = db.prepare("DELETE FROM audit_removed WHERE sequence <= ?");
    this.#forgetCheckpoints = db.prepare("DELETE FROM audit_checkpoints WHERE id <= ?");
  }

  /** After a removal, with nothing else removing: `pause` lets appends go first and answers whether to go on. */
  async compact(written: ChainHead, now: number, pause: () => Promise<boolean>): Promise<void> {
    if (!this.#isDue()) return;
    const base = this.#trail.find([written]);
    if (base === undefined) return;
    let kept = 0;
    let manifest = "";
    for (let after = 0; ; kept += CHUNK_ROWS) {
      const rows = this.#links.all(after, base.sequence) as unknown as LinkRow[];
      for (const row of rows) manifest = foldRow(manifest, row);
      if (rows.length < CHUNK_ROWS) {
        kept += rows.length;
        break;
      }
      after = rows.at(-1)!.sequence;
      if (!(await pause())) return;
    }
    this.#replace({ base, kept, manifest }, now);
  }

  #isDue(): boolean {
    const { removed, id, base } = this.#chain.newest;
    return Math.max(removed, id - base.checkpoint) > FEW + SHARE * this.#countKept();
  }

  #countKept(): number {
    const counted = this.#connection.db.prepare("SELECT count(*) AS kept FROM events WHERE class > 0").get();
    return Number(counted?.["kept"]);
  }

  #replace(by: { base: ChainHead; kept: number; manifest: string }, now: number): void {
    const links = this.#chain.state;
    try {
      this.#connection.transaction("process", 1, () => {
        this.#forgetRemoved.run(by.base.sequence);
        this.#forgetCheckpoints.run(by.base.checkpoint);
        const left = this.#removed.all() as unknown as LinkRow[];
        this.#chain.checkpoint({ ...by, removed: left.length, removals: left.reduce(foldRow, "") }, now);
      });
    } catch (error) {
      this.#chain.restore(links);
      throw error;
    }
  }
}

function links(classId: number): string {
  return `SELECT sequence, chain FROM events INDEXED BY events_to_keep
    WHERE class > 0 AND class = ${classId} AND sequence > ?1 AND sequence <= ?2`;
}

function foldRow(fold: string, { sequence, chain }: LinkRow): string {
  return foldRecord(fold, { sequence, ...unpackLink(chain) }, sha256);
}
