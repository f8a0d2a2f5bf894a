/** A store as versions before the audit chain left it. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { MIGRATIONS } from "../../src/store/sqlite/thread/migrations.ts";

const APPLICATION_ID = 0x53696465;

/** With one decision and one line of output for each name. */
export function makeOlderStore(dataDir: string, names: readonly string[]): void {
  const db = new DatabaseSync(join(dataDir, "events.db"));
  db.exec(`PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; ${MIGRATIONS[0]}`);
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 1`);
  db.exec("INSERT INTO types (name) VALUES ('stdout'), ('status'); INSERT INTO sources (name) VALUES ('person ann')");
  const stream = db.prepare("INSERT INTO streams (name) VALUES (?)");
  const event = db.prepare("INSERT INTO events VALUES (?, ?, ?, ?, 1000, 1, NULL, NULL, ?)");
  for (const [index, name] of names.entries()) {
    stream.run(name);
    event.run(2 * index + 1, index + 1, 2, 1, '{"status":"created"}');
    event.run(2 * index + 2, index + 1, 1, 0, '{"text":"x"}');
  }
  db.exec(`UPDATE meta SET last = ${2 * names.length}, ceiling = 1000`);
  db.close();
}
