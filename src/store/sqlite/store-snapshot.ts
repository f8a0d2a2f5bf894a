/**
 * Looks into a store from another process, also while a hub has it. The hub's lock is left alone and nothing of the store
 * is written: SQLite sees the database under a second name beside a copy of its `-wal`, because closing a connection to
 * the real one may delete a log that the hub has just begun. Rule AUD-11.
 */
import { closeSync, copyFileSync, linkSync, mkdtempSync, openSync, readSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const ATTEMPTS = 20;
const LOG_HEADER_BYTES = 32;

export class StoreBusy extends Error {
  override readonly name = "StoreBusy";
}

/** What `look` answers is of one state of the store; it may be called again when the store changed meanwhile. */
export function lookInto<T>(file: string, look: (db: DatabaseSync) => T): T {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const before = stampOf(file);
    const result = attemptTo(() => lookOnce(file, look));
    // A log that was begun anew, or moved into the database, changes what was being read.
    if (stampOf(file) !== before) continue;
    if (result.ok) return result.value;
    throw result.error;
  }
  throw new StoreBusy(`${file} changes faster than it can be read.`);
}

function lookOnce<T>(file: string, look: (db: DatabaseSync) => T): T {
  if (sizeOf(`${file}-wal`) === 0) return lookAt(`${urlOf(file)}?immutable=1`, look);
  const directory = mkdtempSync(join(dirname(file), ".look-"));
  try {
    const twin = join(directory, "events.db");
    linkSync(file, twin);
    copyFileSync(`${file}-wal`, `${twin}-wal`);
    return lookAt(`${urlOf(twin)}?vfs=unix-none`, look);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function lookAt<T>(url: string, look: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(url, { readOnly: true });
  try {
    // Keeps the index of the log in memory: no -shm file, no lock.
    db.exec("PRAGMA locking_mode = EXCLUSIVE");
    return look(db);
  } finally {
    db.close();
  }
}

function urlOf(file: string): string {
  return `file:${encodeURI(file).replaceAll("?", "%3F").replaceAll("#", "%23")}`;
}

function attemptTo<T>(work: () => T): { ok: true; value: T } | { ok: false; error: unknown } {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    return { ok: false, error };
  }
}

/** Changes with every write to the database and whenever its log is begun anew. */
function stampOf(file: string): string {
  const { ino, size, mtimeNs } = statSync(file, { bigint: true });
  return [ino, size, mtimeNs, logHeader(`${file}-wal`)].join();
}

function logHeader(log: string): string {
  if (sizeOf(log) === 0) return "";
  const descriptor = openSync(log, "r");
  try {
    const header = Buffer.alloc(LOG_HEADER_BYTES);
    readSync(descriptor, header, 0, LOG_HEADER_BYTES, 0);
    return header.toString("hex");
  } finally {
    closeSync(descriptor);
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
