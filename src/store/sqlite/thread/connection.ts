/**
 * The one connection to the database, and its transactions. The lock is SQLite's own exclusive one: a second hub
 * is refused without a race, and the kernel releases it however this process ends.
 */
import { existsSync, statSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Durability } from "../../../hub/ports.ts";
import { cantOpen, StoreUnusable } from "../store-unusable.ts";
import { migrate } from "./migrations.ts";

const SQLITE_BUSY = 5;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;

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
  #pages = 0;
  #broken: string | undefined;

  private constructor(db: DatabaseSync, file: string) {
    this.db = db;
    this.#file = file;
    this.#begin = db.prepare("BEGIN IMMEDIATE");
    this.#commit = db.prepare("COMMIT");
  }

  static open(file: string): Connection {
    refuseLostDatabase(file);
    for (let attempt = 1; ; attempt += 1) {
      let db: DatabaseSync | undefined;
      try {
        db = new DatabaseSync(file, { timeout: 0 });
        db.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -8000; PRAGMA wal_autocheckpoint = 0");
        migrate(db, file);
        return new Connection(db, file);
      } catch (error) {
        db?.close();
        if (primaryCode(error) !== SQLITE_BUSY || attempt === LOCK_ATTEMPTS) throw error;
        sleep(20 + Math.random() * 80);
      }
    }
  }

  /** Why nothing can be stored any more, if so. */
  get broken(): string | undefined {
    return this.#broken;
  }

  /** Stores all that `work` writes or nothing. `pages` is a guess at what it writes, to pace checkpoints. */
  transaction<T>(durability: Durability, pages: number, work: () => T): T {
    if (this.#broken !== undefined) throw new Error(this.#broken);
    try {
      this.#synchronous(durability);
      this.#begin.run();
      const result = work();
      this.#commit.run();
      this.#pages += pages;
      return result;
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }

  /** Not left to SQLite, which ignores a failed fsync there and would trust the next one. */
  checkpointWhenDue(): void {
    if (this.#pages < CHECKPOINT_PAGES || this.#broken !== undefined) return;
    this.#pages = 0;
    try {
      this.db.exec("PRAGMA wal_checkpoint(PASSIVE)");
    } catch (error) {
      if (isFatal(error)) this.#break(error);
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
    // A full disk: moving the log's pages into the file lets the log start over in the room it already has.
    this.#pages = CHECKPOINT_PAGES;
    this.checkpointWhenDue();
  }

  #break(error: unknown): void {
    this.#broken ??= `Writing ${this.#file} failed (${text(error)}): nothing more is stored until the hub is restarted.`;
  }
}

/** The damage that SQLite would otherwise repair by forgetting: it drops a log whose database is empty or gone. */
function refuseLostDatabase(file: string): void {
  const log = `${file}-wal`;
  const lost = !existsSync(file) || statSync(file).size === 0;
  if (!lost || !existsSync(log) || statSync(log).size === 0) return;
  throw damaged(file, new Error("the file is empty but its -wal is not"));
}

export function damaged(file: string, cause: Error): StoreUnusable {
  return new StoreUnusable(
    `${file} is damaged (${cause.message}).`,
    "Nothing was removed. Restore the data directory from a backup, or move this file and its -wal aside to start empty.",
    { cause },
  );
}

/** Says why the file can't be opened; undefined for a fault of ours. */
export function explain(error: unknown, file: string): StoreUnusable | undefined {
  if (error instanceof StoreUnusable) return error;
  const code = primaryCode(error);
  if (code === SQLITE_BUSY) {
    return new StoreUnusable(
      `Another hub is using ${file}.`,
      "Stop it, or start this one with another data directory.",
      { cause: error },
    );
  }
  if (code === SQLITE_NOTADB || code === SQLITE_CORRUPT) return damaged(file, error as Error);
  if (code === undefined) return undefined;
  return cantOpen(file, text(error), error);
}

/** A full disk passes; after a failed write or flush nobody knows what the disk holds. */
function isFatal(error: unknown): boolean {
  const code = primaryCode(error);
  return code === SQLITE_IOERR || code === SQLITE_CORRUPT || code === SQLITE_CANTOPEN || code === SQLITE_NOTADB;
}

function primaryCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === "number" ? code & 0xff : undefined;
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
