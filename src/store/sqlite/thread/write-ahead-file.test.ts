import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../../../test/support/temporary.ts";
import { damageOfLog } from "./write-ahead-file.ts";

/** The log of a database after some SQL, as the death of the process would leave it. */
async function logAfter(...sql: string[]): Promise<string> {
  const directory = await temporaryDirectory();
  const db = new DatabaseSync(join(directory, "a.db"));
  onTestFinished(() => db.close());
  db.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 10; CREATE TABLE t (a, b)");
  for (const statement of sql) db.exec(statement);
  const copy = join(directory, "copy-wal");
  copyFileSync(join(directory, "a.db-wal"), copy);
  return copy;
}

function insert(rows: number): string {
  return `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
    INSERT INTO t SELECT i, hex(zeroblob(400)) FROM n`;
}

test.each([
  { name: "several transactions", sql: [insert(1), insert(100), "DELETE FROM t"] },
  { name: "a transaction that is not committed yet", sql: [insert(3), "BEGIN", insert(1_000)] },
  { name: "one that was given up", sql: [insert(3), "BEGIN", insert(1_000), "ROLLBACK", insert(1), insert(2)] },
  { name: "one that wrote pages again", sql: [insert(900), `BEGIN; ${insert(900)}; UPDATE t SET b = 1; COMMIT`] },
  { name: "a log that began anew", sql: [insert(900), "PRAGMA wal_checkpoint", insert(2), insert(2)] },
])("[LOG-17] the log of $name is whole", async ({ sql }) => {
  expect(damageOfLog(await logAfter(...sql), { isWhole: true })).toBeUndefined();
});
