/**
 * The one connection to the database, and its transactions. The lock is SQLite's own exclusive one: a second hub
 * is refused without a race, and the kernel releases it however this process ends.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Durability } from "../../../hub/ports.ts";
import { inspect } from "./inspection.ts";
import { migrate } from "./migrations.ts";
import { isBusy, isFatal, isFull, textOf } from "./sqlite-errors.ts";

/** Two hubs that start in the same instant on a new directory can each hinder the other: one of them must get it. */
const LOCK_ATTEMPTS = 6;

/**
 * Write-ahead pages before they are copied into the file: bounds the -wal file, a restart's work, and the room
 * (4 MiB) that a full disk must have again before everything works.
 */
const CHECKPOINT_PAGES = 1_000;

export class Connection {
  readonly db: DatabaseSync;
  readonly #file: string;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  #durability: Durability | undefined;
  #isFlushed = false;
  #pages = 0;
  #hasMadeRoom = false;
  #broken: string | undefined;

  private constructor(db: DatabaseSync, file: string) {
    this.db = db;
    this.#file = file;
    this.#begin = db.prepare("BEGIN IMMEDIATE");
    this.#commit = db.prepare("COMMIT");
  }

  static open(file: string, bootId: string): Connection {
    for (let attempt = 1; ; attempt += 1) {
      let db: DatabaseSync | undefined;
      try {
        inspect(file, bootId);
        db = new DatabaseSync(file, { timeout: 0 });
        db.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -8000; PRAGMA wal_autocheckpoint = 0");
        migrate(db, file);
        return new Connection(db, file);
      } catch (error) {
        db?.close();
        if (!isBusy(error) || attempt === LOCK_ATTEMPTS) throw error;
        sleep(20 + Math.random() * 80);
      }
    }
  }

  /** Why nothing can be stored any more, if so. */
  get broken(): string | undefined {
    return this.#broken;
  }

  /** Whether all that was stored would survive the loss of power. */
  get isFlushed(): boolean {
    return this.#isFlushed;
  }

  /** Whether what failed last on a full disk may fit by now. */
  get hasMadeRoom(): boolean {
    return this.#hasMadeRoom;
  }

  /** Stores all that `work` writes or nothing. `pages` is a guess at what it writes, to pace checkpoints. */
  transaction<T>(durability: Durability, pages: number, work: () => T): T {
    if (this.#broken !== undefined) throw new Error(this.#broken);
    this.#hasMadeRoom = false;
    try {
      this.#synchronous(durability);
      this.#begin.run();
      const result = work();
      this.#commit.run();
      this.#pages += pages;
      this.#isFlushed = durability === "power";
      return result;
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }

  /** Not left to SQLite, which ignores a failed fsync there and would trust the next one. */
  checkpointWhenDue(): void {
    if (this.#pages < CHECKPOINT_PAGES || this.#broken !== undefined) return;
    this.#checkpoint();
  }

  /**
   * Moves everything into the file and empties the log: what is in the file survives whatever becomes of the log.
   * A disk too full for it is told to the next append.
   */
  emptyLog(): void {
    try {
      this.db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch (error) {
      if (isFatal(error)) throw error;
    }
  }

  close(): void {
    this.db.close();
  }

  #synchronous(durability: Durability): void {
    if (this.#durability === durability) return;
    this.db.exec(durability === "power" ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    this.#durability = durability;
  }

  #failed(error: unknown): void {
    // What could not be written is not in the file; what was written but not flushed can't be known (fsyncgate).
    if (isFatal(error)) this.#break(error);
    try {
      if (this.db.isTransaction) this.db.exec("ROLLBACK");
    } catch (rollbackError) {
      this.#break(rollbackError);
    }
    // Moving the log's pages into the file lets the log start over in the room it already has.
    this.#hasMadeRoom = this.#broken === undefined && this.#checkpoint() && isFull(error);
  }

  #checkpoint(): boolean {
    this.#pages = 0;
    try {
      this.db.exec("PRAGMA wal_checkpoint(PASSIVE)");
      return true;
    } catch (error) {
      if (isFatal(error)) this.#break(error);
      return false;
    }
  }

  #break(error: unknown): void {
    this.#broken ??= `Writing ${this.#file} failed (${textOf(error)}): nothing more is stored until the hub is restarted.`;
  }
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
