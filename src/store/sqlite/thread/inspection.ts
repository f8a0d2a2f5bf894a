/**
 * Looks at a database before anything is written, through a connection that can't write: also closing one that can
 * would move the log into a damaged file and remove it. Rule LOG-17.
 */
import { existsSync, rmSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { damaged } from "../store-unusable.ts";
import { readFigures, readMeta } from "./figures.ts";
import { missingParts, refuseForeign } from "./migrations.ts";
import { damageOfLog } from "./write-ahead-file.ts";

/** Throws `StoreUnusable`, or what SQLite says; the files are as they were. */
export function inspect(file: string, bootId: string): void {
  refuseLostDatabase(file);
  // A rollback journal is there only while the database is being made: nothing is in it yet.
  if (isEmpty(file) || !isEmpty(`${file}-journal`)) return;
  const index = `${file}-shm`;
  const isOurs = !existsSync(index);
  const db = new DatabaseSync(file, { readOnly: true, timeout: 0 });
  try {
    // First of all, because it takes a lock: what another hub is writing at this moment would look damaged.
    const version = refuseForeign(db, file);
    refuseDamagedLog(file, { isWhole: false });
    if (version > 0) refuseDamage(db, file, { version, bootId });
  } finally {
    db.close();
    if (isOurs) rmSync(index, { force: true });
  }
}

function refuseDamage(db: DatabaseSync, file: string, from: { version: number; bootId: string }): void {
  const [missing] = missingParts(db, from.version);
  if (missing !== undefined) throw damaged(file, `it has no ${missing} as it should`);
  const meta = readMeta(db, file, from.bootId);
  if (meta.isSameRun) refuseDamagedLog(file, { isWhole: true });
  // Looking through all of it takes seconds. The death of a process can't damage the file; a machine's can.
  const found = meta.isDoubtful ? quickCheck(db) : "ok";
  if (found !== "ok") throw damaged(file, found);
  readFigures(db, meta);
}

function refuseDamagedLog(file: string, { isWhole }: { isWhole: boolean }): void {
  const log = `${file}-wal`;
  const found = isEmpty(log) ? undefined : damageOfLog(log, { isWhole });
  if (found !== undefined) throw damaged(log, found);
}

function quickCheck(db: DatabaseSync): string {
  return String(db.prepare("PRAGMA quick_check(1)").get()?.["quick_check"]);
}

/** The damage that SQLite would otherwise repair by forgetting: it drops a log whose database is empty or gone. */
function refuseLostDatabase(file: string): void {
  if (isEmpty(file) && !isEmpty(`${file}-wal`)) throw damaged(file, "the file is empty but its -wal is not");
}

function isEmpty(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined || !found.isFile() || found.size === 0;
}
