/**
 * The figures of the log: the last sequence, how many bytes are kept, what was removed. A sequence is never given
 * twice: not after the death of the process, nor after the loss of power, which may take events that readers have
 * already seen. Their sequences lie below the `ceiling`, which is flushed before they are given. Rule LOG-5.
 */
import type { StatementSync } from "node:sqlite";
import { type Connection, damaged } from "./connection.ts";

/** Sequences given per flush of the ceiling; at most so many are skipped by a loss of power. */
const CEILING_STEP = 65_536;

/** What a row costs beside its payload: its header, its index entries, its share of half-empty pages. */
export const ROW_BYTES = 64;

export const CLASSES = [0, 1, 2] as const;
export type ClassId = (typeof CLASSES)[number];
export type ByClass = [activity: number, audit: number, housekeeping: number];

/** Housekeeping counts as audit. */
export type KeptBytes = [activity: number, audit: number];

type MetaRow = Record<
  | "ceiling"
  | "last"
  | "last_at"
  | "counted"
  | "activity_bytes"
  | "audit_bytes"
  | "activity_floor"
  | "audit_floor"
  | "housekeeping_floor"
  | "clean",
  number
> & { boot_id: string };

type Figures = { last: number; lastAt: number; ceiling: number; bytes: KeptBytes; floors: ByClass };

export class Ledger {
  /** The largest sequence given; the next one follows it. */
  last = 0;
  lastAt = 0;
  ceiling = 0;
  bytes: KeptBytes = [0, 0];
  /** By class, the largest sequence that was removed. */
  floors: ByClass = [0, 0, 0];
  /** The newest event that is stored; smaller than `last` after power was lost. */
  readonly head: number;
  readonly #save: StatementSync;
  readonly #connection: Connection;
  readonly #bootId: string;

  constructor(connection: Connection, file: string, bootId: string) {
    this.#connection = connection;
    this.#bootId = bootId;
    const meta = connection.db.prepare("SELECT * FROM meta").get() as unknown as MetaRow;
    // The death of a process can't damage the file, and looking through all of it takes seconds; a machine's can.
    const sameRun = bootId !== "" && meta.boot_id === bootId;
    const doubtful = meta.clean === 0 && !sameRun;
    if (doubtful) refuseDamage(connection, file);
    this.#load(meta);
    this.head = this.last;
    if (doubtful) this.last = Math.max(this.last, this.ceiling);
    this.#save = connection.db.prepare(
      `UPDATE meta SET last = ?, last_at = ?, counted = ?, ceiling = ?, activity_bytes = ?, audit_bytes = ?,
       activity_floor = ?, audit_floor = ?, housekeeping_floor = ?, clean = ?, boot_id = ?`,
    );
    connection.transaction("power", 1, () => this.save());
  }

  /** True if giving `count` sequences needs a higher ceiling: then `save` and flush in the same transaction. */
  reserve(count: number): boolean {
    if (this.last + count <= this.ceiling) return false;
    this.ceiling = this.last + count + CEILING_STEP;
    return true;
  }

  save(clean: 0 | 1 = 0): void {
    const { last, lastAt, ceiling, bytes, floors } = this;
    this.#save.run(last, lastAt, last, ceiling, ...bytes, ...floors, clean, this.#bootId);
  }

  figures(): Figures {
    const { last, lastAt, ceiling } = this;
    return { last, lastAt, ceiling, bytes: [...this.bytes], floors: [...this.floors] };
  }

  /** After a rollback: what was counted in the meantime isn't in the file. */
  restore(figures: Figures): void {
    Object.assign(this, figures);
  }

  #load(meta: MetaRow): void {
    const db = this.#connection.db;
    const newest = db.prepare("SELECT sequence, at FROM events ORDER BY sequence DESC LIMIT 1").get();
    this.last = Math.max(meta.last, Number(newest?.["sequence"] ?? 0));
    this.lastAt = Math.max(meta.last_at, Number(newest?.["at"] ?? 0));
    this.ceiling = meta.ceiling;
    this.floors = [meta.activity_floor, meta.audit_floor, meta.housekeeping_floor];
    // The sums are saved with the ceiling, not with every commit: what came after is counted again here.
    const uncounted = db
      .prepare(
        `SELECT total((octet_length(payload) + ${ROW_BYTES}) * (class = 0)) AS activity,
                total((octet_length(payload) + ${ROW_BYTES}) * (class > 0)) AS audit FROM events WHERE sequence > ?`,
      )
      .get(meta.counted);
    this.bytes = [
      meta.activity_bytes + Number(uncounted?.["activity"]),
      meta.audit_bytes + Number(uncounted?.["audit"]),
    ];
  }
}

function refuseDamage(connection: Connection, file: string): void {
  const found = connection.db.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
  if (found !== "ok") throw damaged(file, new Error(String(found)));
}
