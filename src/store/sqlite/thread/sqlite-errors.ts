/** What SQLite's errors mean for the store: refused at opening, passing, or the end of all writing. */
import { cantOpen, damaged, StoreUnusable } from "../store-unusable.ts";

const SQLITE_ERROR = 1;
const SQLITE_BUSY = 5;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_CONSTRAINT = 19;
const SQLITE_NOTADB = 26;

/** Our own statements are right: an error in them means that a table or a column is not what it was. */
const DAMAGE = new Set([SQLITE_ERROR, SQLITE_CORRUPT, SQLITE_CONSTRAINT, SQLITE_NOTADB]);

const FATAL = new Set([SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_CANTOPEN, SQLITE_NOTADB]);

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
  if (code !== undefined && !DAMAGE.has(code)) return cantOpen(file, textOf(error), error);
  if (code !== undefined || isImpossibleNumber(error)) return damaged(file, textOf(error), error);
  const { syscall, code: reason } = error as NodeJS.ErrnoException;
  return syscall === undefined ? undefined : cantOpen(file, String(reason), error);
}

export function isBusy(error: unknown): boolean {
  return primaryCode(error) === SQLITE_BUSY;
}

export function isFull(error: unknown): boolean {
  return primaryCode(error) === SQLITE_FULL;
}

/** A full disk passes; after a failed write or flush nobody knows what the disk holds. */
export function isFatal(error: unknown): boolean {
  return FATAL.has(primaryCode(error) ?? 0);
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function primaryCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === "number" ? code & 0xff : undefined;
}

/** An integer that JavaScript can't hold: we never stored one. */
function isImpossibleNumber(error: unknown): boolean {
  return (error as { code?: unknown }).code === "ERR_OUT_OF_RANGE";
}
