/** Opens the store of a data directory: `<data-dir>/events.db`, one thread, five adapters. */
import { mkdir, open, readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { SqliteAuditTrail } from "./audit-trail.ts";
import { SqliteEventLog } from "./event-log.ts";
import { SqliteAnswerStore, SqliteCredentialStore, SqliteOutboxStore } from "./record-stores.ts";
import { cantOpen } from "./store-unusable.ts";
import { StoreWorker } from "./store-worker.ts";

export type SqliteStore = {
  readonly events: SqliteEventLog;
  readonly credentials: SqliteCredentialStore;
  readonly answers: SqliteAnswerStore;
  readonly outbox: SqliteOutboxStore;
  readonly audit: SqliteAuditTrail;
  readonly file: string;
  readonly sqliteVersion: string;
  readonly schemaVersion: number;
  /** Why nothing can be stored before a restart, if so. */
  problem(): string | undefined;
  /** "ok", or what is wrong. Reads the whole file. */
  integrityCheck(): Promise<string>;
  close(): Promise<void>;
};

/** Throws `StoreUnusable` when another hub holds the directory, or its file is damaged or newer than this code. */
export async function openSqliteStore(dataDir: string, options: { readonly now: () => number }): Promise<SqliteStore> {
  const file = join(resolve(dataDir), "events.db");
  await createPrivately(resolve(dataDir), file);
  const worker = await StoreWorker.open({ file, bootId: await readBootId(), now: options.now() });
  const events = new SqliteEventLog(worker, options.now);
  return {
    events,
    credentials: new SqliteCredentialStore(worker),
    answers: new SqliteAnswerStore(worker, options.now),
    outbox: new SqliteOutboxStore(worker),
    audit: new SqliteAuditTrail(worker),
    file,
    sqliteVersion: worker.opened.sqliteVersion,
    schemaVersion: worker.opened.schemaVersion,
    problem: () => worker.problem?.message,
    integrityCheck: () => worker.call("integrityCheck", undefined),
    close: async () => {
      await events.close();
      await worker.close();
    },
  };
}

/** SQLite gives the -wal file the mode of the database, which it would make readable by all. */
async function createPrivately(directory: string, file: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    // Only ever a new file: closing a descriptor of one that is in use would drop this process's lock on it.
    await (await open(file, "wx", 0o600)).close();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const exists = code === "EEXIST" && (await stat(directory)).isDirectory();
    if (!exists) throw cantOpen(file, String(code), error);
  }
}

async function readBootId(): Promise<string> {
  try {
    return (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
  } catch {
    return "";
  }
}
