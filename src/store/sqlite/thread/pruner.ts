/**
 * Removes what is too old or too much, oldest first, in small transactions between which appends go on.
 *
 * Bytes are those of the kept payloads plus a fixed cost per row, not the size of the file: SQLite reuses freed
 * pages for later events, so the file stays at its largest size and a limit on it could never be reached by
 * removing rows. Pages are given back to the file system only when a good part of the file is free (a limit was
 * lowered, a flood is over). Rules LOG-9, LOG-10.
 */
import type { StatementSync } from "node:sqlite";
import type { PruneAnswer, PruneRequest } from "../messages.ts";
import type { Connection } from "./connection.ts";
import { type ByClass, type ClassId, type Ledger, ROW_BYTES } from "./ledger.ts";
import type { Streams } from "./names.ts";

/** Rows looked at per transaction: a few milliseconds. */
const CHUNK_ROWS = 256;

/** Free pages worth giving back: a quarter of the file, and at least 4 MiB. */
const FREE_PAGES = 1_024;
const FREE_SHARE = 0.25;

type Candidate = [sequence: number, stream: number, retention: ClassId, at: number, bytes: number];

/** Whether this pass is over. */
type Step = "more" | "done";

export class Pruner {
  readonly #connection: Connection;
  readonly #ledger: Ledger;
  readonly #streams: Streams;
  readonly #activity: StatementSync;
  readonly #audit: StatementSync;
  readonly #delete: StatementSync;
  readonly #remember: StatementSync;

  constructor(connection: Connection, ledger: Ledger, streams: Streams) {
    const { db } = connection;
    const columns = `sequence, stream, class, at, octet_length(payload) + ${ROW_BYTES}`;
    this.#connection = connection;
    this.#ledger = ledger;
    this.#streams = streams;
    this.#activity = db.prepare(
      `SELECT ${columns} FROM events WHERE class = 0 AND sequence > ? ORDER BY sequence LIMIT ${CHUNK_ROWS}`,
    );
    const ofClass = (id: ClassId): string =>
      `SELECT ${columns} FROM events INDEXED BY events_to_keep WHERE class > 0 AND class = ${id} AND sequence > ?1`;
    this.#audit = db.prepare(`${ofClass(1)} UNION ALL ${ofClass(2)} ORDER BY sequence LIMIT ${CHUNK_ROWS}`);
    this.#delete = db.prepare("DELETE FROM events WHERE sequence = ?");
    // The version would be forgotten with the stream's last event, and a decision made twice.
    this.#remember = db.prepare(
      `UPDATE streams SET version = max(version, ?2, ?3, ?4), activity_floor = max(activity_floor, ?2),
       audit_floor = max(audit_floor, ?3), housekeeping_floor = max(housekeeping_floor, ?4) WHERE id = ?1`,
    );
    this.#activity.setReturnArrays(true);
    this.#audit.setReturnArrays(true);
  }

  /** `pause` lets other work go first between two chunks and answers whether to go on. */
  async prune(request: PruneRequest, pause: () => Promise<boolean>): Promise<PruneAnswer> {
    const removed = { activity: 0, audit: 0 };
    const keep = new Set(request.keep.map((name) => this.#streams.find(name)?.id));
    let scanned = 0;
    const steps = [
      () => this.#pruneActivity(request, removed),
      () => {
        const scan = this.#pruneAudit(request, { keep, from: scanned, removed });
        scanned = scan.to;
        return scan.step;
      },
      () => this.#shrink(),
    ];
    for (const step of steps) {
      while (step() === "more") if (!(await pause())) break;
      if (!(await pause())) break;
    }
    return { ...removed, floor: Math.max(...this.#ledger.floors) };
  }

  #pruneActivity(request: PruneRequest, removed: { activity: number }): Step {
    // Everything below the floor is gone: the search begins behind it.
    const rows = this.#activity.all(this.#ledger.floors[0]) as unknown as Candidate[];
    let bytes = this.#ledger.bytes[0];
    const before = request.now - request.activityMaxAgeMs;
    const kept = rows.findIndex((row) => {
      if (row[3] >= before && bytes <= request.activityMaxBytes) return true;
      bytes -= row[4];
      return false;
    });
    const old = kept === -1 ? rows : rows.slice(0, kept);
    removed.activity += this.#remove(old);
    return kept === -1 && rows.length === CHUNK_ROWS ? "more" : "done";
  }

  #pruneAudit(
    request: PruneRequest,
    scan: { keep: ReadonlySet<number | undefined>; from: number; removed: { audit: number } },
  ): { step: Step; to: number } {
    const rows = this.#audit.all(scan.from) as unknown as Candidate[];
    let bytes = this.#ledger.bytes[1];
    const before = request.now - request.auditMaxAgeMs;
    const old: Candidate[] = [];
    for (const row of rows) {
      if (row[3] >= before && bytes <= request.auditMaxBytes) break;
      if (scan.keep.has(row[1])) continue;
      bytes -= row[4];
      old.push(row);
    }
    scan.removed.audit += this.#remove(old);
    const last = rows.at(-1);
    const over = last === undefined || (last[3] >= before && bytes <= request.auditMaxBytes);
    return { step: over || rows.length < CHUNK_ROWS ? "done" : "more", to: last?.[0] ?? scan.from };
  }

  #remove(rows: readonly Candidate[]): number {
    if (rows.length === 0) return 0;
    const figures = this.#ledger.figures();
    try {
      this.#connection.transaction("process", rows.length, () => {
        const floors = new Map<number, ByClass>();
        for (const row of rows) this.#removeRow(row, floors);
        for (const [stream, floor] of floors) this.#remember.run(stream, ...floor);
        this.#ledger.save();
      });
    } catch (error) {
      this.#ledger.restore(figures);
      throw error;
    }
    return rows.length;
  }

  #removeRow([sequence, stream, retention, , bytes]: Candidate, floors: Map<number, ByClass>): void {
    this.#delete.run(sequence);
    this.#ledger.bytes[retention === 0 ? 0 : 1] -= bytes;
    this.#ledger.floors[retention] = Math.max(this.#ledger.floors[retention], sequence);
    const floor = floors.get(stream) ?? [0, 0, 0];
    floor[retention] = sequence;
    floors.set(stream, floor);
  }

  #shrink(): Step {
    const { db } = this.#connection;
    const free = Number(db.prepare("PRAGMA freelist_count").get()?.["freelist_count"]);
    const pages = Number(db.prepare("PRAGMA page_count").get()?.["page_count"]);
    if (free < FREE_PAGES || free < pages * FREE_SHARE) return "done";
    this.#connection.transaction("process", CHUNK_ROWS, () => db.exec(`PRAGMA incremental_vacuum(${CHUNK_ROWS})`));
    return "more";
  }
}
