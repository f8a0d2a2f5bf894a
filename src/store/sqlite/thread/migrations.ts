/**
 * The schema, step by step. `user_version` counts the steps that were taken; a step is never edited once released.
 * Types, sources and streams are small integers in `events`, so that a row is little more than its payload.
 */
import { DatabaseSync } from "node:sqlite";
import { EVENT_TYPES } from "../../../domain/event.ts";
import { StoreUnusable } from "../store-unusable.ts";

/** "Side" in ASCII: tells our file from any other SQLite database. */
const APPLICATION_ID = 0x53696465;

const FIRST = `
CREATE TABLE meta (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  boot_id TEXT NOT NULL DEFAULT '',
  clean INTEGER NOT NULL DEFAULT 1,
  ceiling INTEGER NOT NULL DEFAULT 0,
  last INTEGER NOT NULL DEFAULT 0,
  last_at INTEGER NOT NULL DEFAULT 0,
  counted INTEGER NOT NULL DEFAULT 0,
  activity_bytes INTEGER NOT NULL DEFAULT 0,
  audit_bytes INTEGER NOT NULL DEFAULT 0,
  activity_floor INTEGER NOT NULL DEFAULT 0,
  audit_floor INTEGER NOT NULL DEFAULT 0,
  housekeeping_floor INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO meta (id) VALUES (1);
CREATE TABLE types (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE sources (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE streams (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  version INTEGER NOT NULL DEFAULT 0,
  activity_floor INTEGER NOT NULL DEFAULT 0,
  audit_floor INTEGER NOT NULL DEFAULT 0,
  housekeeping_floor INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE events (
  sequence INTEGER PRIMARY KEY,
  stream INTEGER NOT NULL,
  type INTEGER NOT NULL,
  class INTEGER NOT NULL,
  at INTEGER NOT NULL,
  source INTEGER NOT NULL,
  position INTEGER,
  cursor INTEGER,
  payload TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_stream ON events (stream, class);
CREATE INDEX events_by_type ON events (type);
CREATE INDEX events_to_keep ON events (class) WHERE class > 0;
CREATE TABLE credentials (token_id TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT;
CREATE TABLE answers (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  at INTEGER NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX answers_by_age ON answers (at);
`;

/** `chain` of an audit row is its digest and its place in the chain, 32 bytes each; see `domain/audit-chain.ts`. */
const AUDIT_CHAIN = `
ALTER TABLE events ADD COLUMN chain BLOB;
CREATE TABLE audit_checkpoints (
  id INTEGER PRIMARY KEY,
  after INTEGER NOT NULL,
  body TEXT NOT NULL,
  chain BLOB NOT NULL
) STRICT;
CREATE TABLE audit_removed (id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, chain BLOB NOT NULL) STRICT;
CREATE INDEX audit_removed_by_sequence ON audit_removed (sequence);
`;

/** A row's id is never given twice: an old button in a chat must not mean something new. */
const OUTBOX = `
CREATE TABLE outbox (id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL) STRICT;
CREATE TABLE outbox_consumed (id INTEGER PRIMARY KEY CHECK (id = 1), sequence INTEGER NOT NULL) STRICT;
CREATE TABLE outbox_forwarded (
  channel TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  cursor INTEGER NOT NULL,
  PRIMARY KEY (channel, thread_id, session_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE received (
  id INTEGER PRIMARY KEY,
  channel TEXT NOT NULL,
  delivery TEXT NOT NULL,
  content TEXT NOT NULL,
  UNIQUE (channel, delivery)
) STRICT;
CREATE INDEX received_by_channel ON received (channel, id);
`;

export const MIGRATIONS: readonly string[] = [FIRST, AUDIT_CHAIN, OUTBOX];

/** Takes the missing steps. Refuses a file that is newer than this code or not ours, before anything is changed. */
export function migrate(db: DatabaseSync, file: string, steps = MIGRATIONS): void {
  const from = refuseForeign(db, file, steps);
  if (from === 0) db.exec("PRAGMA auto_vacuum = INCREMENTAL"); // can't be chosen any more once there is a table
  db.exec("PRAGMA journal_mode = WAL");
  for (let step = from; step < steps.length; step += 1) {
    db.exec(
      `BEGIN IMMEDIATE; ${steps[step]} PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${step + 1}; COMMIT`,
    );
  }
  nameTypes(db);
}

/** Answers how many steps were taken. Throws if the file is newer than this code or not ours. */
export function refuseForeign(db: DatabaseSync, file: string, steps = MIGRATIONS): number {
  const from = pragma(db, "user_version");
  const foreign = from === 0 ? pragma(db, "schema_version") !== 0 : pragma(db, "application_id") !== APPLICATION_ID;
  if (foreign) {
    throw new StoreUnusable(`${file} is a database of another program.`, "Start with another data directory.");
  }
  if (from > steps.length) {
    throw new StoreUnusable(
      `${file} was written by a newer Sidestick (format ${from}; this one knows up to ${steps.length}).`,
      "Run that newer version, or start with another data directory.",
    );
  }
  return from;
}

/** Tables and indexes that the first `version` steps made and that are gone or different. */
export function missingParts(db: DatabaseSync, version: number): readonly string[] {
  const fresh = new DatabaseSync(":memory:");
  for (const step of MIGRATIONS.slice(0, version)) fresh.exec(step);
  const found = new Set(partsOf(db).map(({ sql }) => sql));
  const missing = partsOf(fresh).filter(({ sql }) => !found.has(sql));
  fresh.close();
  return missing.map(({ type, name }) => `${type} ${name}`);
}

function partsOf(db: DatabaseSync): readonly { type: string; name: string; sql: string }[] {
  const parts = db.prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL").all();
  return parts as unknown as { type: string; name: string; sql: string }[];
}

/** Ids of types belong to the file: the order of the list in `domain/event.ts` may change. */
function nameTypes(db: DatabaseSync): void {
  const known = new Set(
    db
      .prepare("SELECT name FROM types")
      .all()
      .map(({ name }) => name),
  );
  const unknown = EVENT_TYPES.filter((type) => !known.has(type));
  if (unknown.length === 0) return;
  const insert = db.prepare("INSERT INTO types (name) VALUES (?)");
  db.exec("BEGIN IMMEDIATE");
  for (const type of unknown) insert.run(type);
  db.exec("COMMIT");
}

function pragma(db: DatabaseSync, name: string): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
}
