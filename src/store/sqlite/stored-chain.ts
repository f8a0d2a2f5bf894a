/** The chain as a store holds it, for who checks it. Reads what is there, whatever was done to it. */
import type { DatabaseSync } from "node:sqlite";
import { eventBody, type Folded, type Sha256 } from "../../domain/audit-chain.ts";
import type { StoredChain, StoredCheckpoint, StoredDecision } from "../../domain/audit-verify.ts";
import { EVENT_TYPES, retentionOf } from "../../domain/event.ts";
import { AUDIT_ROWS, type AuditRow, eventOf, unpackLink } from "./audit-rows.ts";

const CLASS_NAMES = ["activity", "audit", "housekeeping"];

/** False for a store that no version with a chain has opened yet. */
export function hasChain(db: DatabaseSync): boolean {
  const version = db.prepare("PRAGMA user_version").get()?.["user_version"];
  return Number(version) >= 2;
}

export function storedChain(db: DatabaseSync, sha256: Sha256): StoredChain {
  const checkpoints = db
    .prepare("SELECT id, after, body, lower(hex(chain)) AS chain FROM audit_checkpoints ORDER BY id")
    .all() as unknown as StoredCheckpoint[];
  const removed = db
    .prepare("SELECT sequence, chain FROM audit_removed ORDER BY id")
    .all()
    .map((row): Folded => {
      return { sequence: Number(row["sequence"]), ...unpackLink(row["chain"] as Uint8Array | null) };
    });
  return { checkpoints, removed, decisions: () => decisions(db, sha256), unlinked: () => unlinked(db) };
}

function* decisions(db: DatabaseSync, sha256: Sha256): Generator<StoredDecision> {
  // A statement of its own: another walk may be under way.
  for (const found of db.prepare(AUDIT_ROWS).iterate(-1, Number.MAX_SAFE_INTEGER, -1)) {
    const row = found as unknown as AuditRow;
    const event = eventOf(row);
    yield {
      sequence: row.sequence,
      ...unpackLink(row.chain),
      bodyAt: (sequence) => eventBody({ ...event, sequence }, sha256),
      isFiled: retentionOf(event.type) === CLASS_NAMES[row.class],
    };
  }
}

const DECISIONS = EVENT_TYPES.filter((type) => retentionOf(type) !== "activity");

function unlinked(db: DatabaseSync): number | undefined {
  const names = DECISIONS.map((type) => `'${type}'`).join();
  const row = db
    .prepare(
      `SELECT min(sequence) AS sequence FROM events
       WHERE type IN (SELECT id FROM types WHERE name IN (${names})) AND class NOT IN (1, 2)`,
    )
    .get();
  return (row?.["sequence"] as number | null | undefined) ?? undefined;
}
