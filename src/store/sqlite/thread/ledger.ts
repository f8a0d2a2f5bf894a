/**
 * The figures of the log: the last sequence, how many bytes are kept, what was removed. A sequence is never given
 * twice: not after the death of the process, nor after the loss of power, which may take events that readers have
 * already seen. Their sequences lie below the `ceiling`, which is flushed before they are given. Rule LOG-5.
 */
import type { StatementSync } from "node:sqlite";
import type { Connection } from "./connection.ts";
import { type ByClass, type Figures, type KeptBytes, readFigures, readMeta } from "./figures.ts";

/** Sequences given per flush of the ceiling; at most so many are skipped by a loss of power. */
const CEILING_STEP = 65_536;

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
  readonly #bootId: string;

  constructor({ db }: Connection, file: string, bootId: string) {
    this.#bootId = bootId;
    const meta = readMeta(db, file, bootId);
    this.restore(readFigures(db, meta));
    this.head = this.last;
    if (meta.isDoubtful) this.last = Math.max(this.last, this.ceiling);
    this.#save = db.prepare(
      `UPDATE meta SET last = ?, last_at = ?, counted = ?, ceiling = ?, activity_bytes = ?, audit_bytes = ?,
       activity_floor = ?, audit_floor = ?, housekeeping_floor = ?, clean = ?, boot_id = ?`,
    );
  }

  /** True if giving `count` sequences needs a higher ceiling: then `save` and flush in the same transaction. */
  reserve(count: number): boolean {
    if (this.last + count <= this.ceiling) return false;
    this.ceiling = this.last + count + CEILING_STEP;
    return true;
  }

  /** Inside a transaction. */
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
}
