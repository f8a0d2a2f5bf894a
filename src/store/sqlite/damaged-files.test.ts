import { readFile, rm, stat, truncate } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { StorageFailed } from "../../hub/ports.ts";
import { alter, closedStore, damage, killedStore } from "../../../test/store/closed-store.ts";
import { ANN, output } from "../../../test/store/test-log.ts";
import { openSqliteStore, type SqliteStore } from "./sqlite-store.ts";
import { StoreUnusable } from "./store-unusable.ts";
import { inspect } from "./thread/inspection.ts";

const HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4_096;

async function open(directory: string): Promise<SqliteStore> {
  const store = await openSqliteStore(directory, { now: Date.now });
  onTestFinished(() => store.close());
  return store;
}

/** Opens a store that can't be opened; answers why, and whether its files are as they were. */
async function refusal(directory: string, files: readonly string[]): Promise<{ message: string; unchanged: boolean }> {
  const contents = (): Promise<Buffer[]> => Promise.all(files.map((file) => readFile(file)));
  const before = await contents();
  const error = await open(directory).then(
    () => expect.unreachable("it was opened"),
    (it: unknown) => it,
  );
  expect(error).toBeInstanceOf(StoreUnusable);
  const after = await contents();
  const { message } = error as StoreUnusable;
  return { message, unchanged: after.every((content, index) => content.equals(before[index]!)) };
}

test.each([0, 5, 9, 17, 22, 31])("[LOG-17] a -wal whose header is damaged at %i is refused by name", async (offset) => {
  const { directory, file, log } = await killedStore(20);
  await damage(log, offset);

  expect(await refusal(directory, [file, log])).toEqual({
    message: `${log} is damaged (its header is not what was written).`,
    unchanged: true,
  });
});

test.each([
  { part: "page", offset: 1_000 },
  { part: "number", offset: 2 },
  { part: "salt", offset: 9 },
  { part: "sum", offset: 18 },
])("[LOG-17] a -wal that is damaged in the middle, in a frame's $part, is refused by name", async ({ offset }) => {
  const { directory, file, log } = await killedStore(20);
  await damage(log, HEADER_BYTES + 10 * FRAME_BYTES + offset);

  expect(await refusal(directory, [file, log])).toEqual({
    message: `${log} is damaged (frame 11 is not what was written, and others follow it).`,
    unchanged: true,
  });
});

test("[LOG-4, LOG-17] the end of a -wal may be torn: what was whole before it is there", async () => {
  const { directory, log } = await killedStore(20);
  await truncate(log, (await stat(log)).size - 100);

  const store = await open(directory);

  expect(store.events.head).toBe(19);
});

test("[LOG-17] a frame in the middle may be missing after a loss of power, which keeps no order", async () => {
  const { file, log } = await killedStore(20);
  await damage(log, HEADER_BYTES + 10 * FRAME_BYTES + 1_000);

  expect(() => inspect(file, "another run")).not.toThrow();
});

test("[LOG-17] the file has its tables and figures from the start, whatever becomes of its -wal", async () => {
  const { file, log } = await killedStore(1);
  await rm(log);

  const db = new DatabaseSync(file);
  onTestFinished(() => db.close());
  expect(db.prepare("SELECT clean FROM meta").get()).toEqual({ clean: 0 });
});

test("[LOG-17] a database that was shortened is refused by name", async () => {
  const { directory, file } = await closedStore(5_000);
  await truncate(file, 100_000);

  expect(await refusal(directory, [file])).toEqual({
    message: `${file} is damaged (database disk image is malformed).`,
    unchanged: true,
  });
});

test("[LOG-17] a database whose list of tables is damaged is refused by name", async () => {
  const { directory, file } = await closedStore(5);
  await damage(file, 100, 3_900);

  const { message, unchanged } = await refusal(directory, [file]);

  expect([message.startsWith(`${file} is damaged (`), unchanged]).toEqual([true, true]);
});

test.each([
  { sql: "DROP TABLE credentials", reason: "it has no table credentials as it should" },
  { sql: "DROP INDEX events_to_keep", reason: "it has no index events_to_keep as it should" },
  { sql: "ALTER TABLE meta RENAME COLUMN clean TO tidy", reason: "it has no table meta as it should" },
  { sql: "DELETE FROM meta", reason: "its figures are gone" },
  {
    sql: "UPDATE meta SET last = 1 << 60",
    reason: "Value is too large to be represented as a JavaScript number: 1152921504606846976",
  },
])("[LOG-17] a database is refused by name after $sql", async ({ sql, reason }) => {
  const { directory, file } = await closedStore(5);
  alter(file, sql);

  expect(await refusal(directory, [file])).toEqual({ message: `${file} is damaged (${reason}).`, unchanged: true });
});

test("[LOG-23] a damaged page that is met while running is told to who reads it, with the file's name", async () => {
  const { directory, file } = await closedStore(5_000);
  await damage(file, 80_000, 40_000);
  const store = await open(directory);

  const reading = store.events.read({ after: 0, limit: 5_000 });

  await expect(reading).rejects.toEqual(
    new StorageFailed(`Reading ${file} failed (database disk image is malformed).`),
  );
});

test("[LOG-23] a damaged event is told to who reads it, and the others are read", async () => {
  const { directory, file } = await closedStore(5);
  alter(file, "UPDATE events SET payload = '{\"text\":' WHERE sequence = 3");
  const store = await open(directory);

  await expect(store.events.read({ after: 0, limit: 5 })).rejects.toEqual(
    new StorageFailed(`Reading ${file} failed (an event in it is damaged).`),
  );
  expect(await store.events.read({ after: 3, limit: 5 })).toHaveLength(2);
});

test("[LOG-15, LOG-23] an append that meets a damaged page is rejected, and so is all that follows", async () => {
  const { directory, file } = await closedStore(5_000);
  const db = new DatabaseSync(file);
  const index = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'events_by_type'").get();
  db.close();
  await damage(file, (Number(index?.["rootpage"]) - 1) * 4_096, 200);
  const store = await open(directory);

  const first = await store.events.append(ANN, "any", [output("lost")], "process").catch((error: unknown) => error);
  const second = await store.events.append(ANN, "any", [output("later")], "process").catch((error: unknown) => error);

  expect([first, second]).toEqual([expect.any(StorageFailed), expect.any(StorageFailed)]);
  expect(store.problem()).toContain(file);
});
