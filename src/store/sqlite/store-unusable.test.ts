import { mkdir, open as openFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { alter, closedStore } from "../../../test/store/closed-store.ts";
import { ANN, output } from "../../../test/store/test-log.ts";
import { temporaryDirectory } from "../../../test/support/temporary.ts";
import { openSqliteStore, type SqliteStore } from "./sqlite-store.ts";
import { StoreUnusable } from "./store-unusable.ts";
import { migrate, MIGRATIONS } from "./thread/migrations.ts";

async function open(directory: string): Promise<SqliteStore> {
  const store = await openSqliteStore(directory, { now: Date.now });
  onTestFinished(() => store.close());
  return store;
}

async function refusal(directory: string): Promise<StoreUnusable> {
  return await open(directory).then(
    () => expect.unreachable("it was opened"),
    (error: StoreUnusable) => error,
  );
}

test("[LOG-16] a second hub on the same directory is refused, until the first is gone", async () => {
  const directory = await temporaryDirectory();
  const first = await openSqliteStore(directory, { now: Date.now });

  expect(await refusal(directory)).toEqual(
    new StoreUnusable(`Another hub is using ${first.file}.`, "Stop it, or start this one with another data directory."),
  );
  await first.close();
  expect((await open(directory)).events.head).toBe(0);
});

test("[LOG-16] a hub that is writing is said to use the directory, never that its files are damaged", async () => {
  const directory = await temporaryDirectory();
  const first = await open(directory);
  const stop = new AbortController();
  const writing = (async () => {
    while (!stop.signal.aborted) await first.events.append(ANN, "any", [output("x".repeat(20_000))], "process");
  })();

  const refusals = [await refusal(directory), await refusal(directory), await refusal(directory)];
  stop.abort();
  await writing;

  expect(refusals.map((error) => error.message)).toEqual(refusals.map(() => `Another hub is using ${first.file}.`));
});

test("[LOG-16] of hubs that start at once on a new directory exactly one gets it", async () => {
  const directory = join(await temporaryDirectory(), "new");

  const starts = await Promise.allSettled([1, 2, 3].map(() => open(directory)));

  expect(starts.map((start) => start.status).toSorted()).toEqual(["fulfilled", "rejected", "rejected"]);
});

test("[LOG-17] a file that is no database is refused by name and left as it is", async () => {
  const directory = await temporaryDirectory();
  const file = join(directory, "events.db");
  await writeFile(file, "this is a diary, not a database\n".repeat(500));

  const error = await refusal(directory);

  expect(error).toBeInstanceOf(StoreUnusable);
  expect(error.message).toBe(`${file} is damaged (file is not a database).`);
  expect(await readFile(file, "utf8")).toBe("this is a diary, not a database\n".repeat(500));
});

test("[LOG-17] a database that was damaged when the machine went down is refused and left as it is", async () => {
  const { directory, file } = await closedStore(5_000);
  alter(file, "UPDATE meta SET clean = 0, boot_id = 'another'");
  const handle = await openFile(file, "r+");
  await handle.write(Buffer.alloc(40_000, 0xa5), 0, 40_000, 80_000);
  await handle.close();
  const before = await readFile(file);

  const error = await refusal(directory);

  expect(error.message.startsWith(`${file} is damaged (`)).toBe(true);
  expect(error.remedy).toContain("backup");
  expect((await readFile(file)).equals(before)).toBe(true);
});

test("[LOG-17] a lost database beside its log is refused: SQLite would throw the log away", async () => {
  const directory = await temporaryDirectory();
  const log = join(directory, "events.db-wal");
  await writeFile(log, "committed events");

  const error = await refusal(directory);

  expect(error.message).toBe(`${join(directory, "events.db")} is damaged (the file is empty but its -wal is not).`);
  expect(await readFile(log, "utf8")).toBe("committed events");
});

test("[LOG-17] a database of another program is refused and left as it is", async () => {
  const directory = await temporaryDirectory();
  const file = join(directory, "events.db");
  alter(file, "CREATE TABLE bookmarks (url TEXT)");
  const before = await readFile(file);

  expect((await refusal(directory)).message).toBe(`${file} is a database of another program.`);
  expect((await readFile(file)).equals(before)).toBe(true);
});

test("[LOG-17] a database of a newer version is refused and left as it is", async () => {
  const { directory, file } = await closedStore(3);
  alter(file, "PRAGMA user_version = 99");
  const before = await readFile(file);

  expect((await refusal(directory)).message).toBe(
    `${file} was written by a newer Sidestick (format 99; this one knows up to ${MIGRATIONS.length}).`,
  );
  expect((await readFile(file)).equals(before)).toBe(true);
});

test("[LOG-17] a path that can't be a database is refused in one sentence", async () => {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, "events.db"));

  const error = await refusal(directory);

  expect(error).toBeInstanceOf(StoreUnusable);
  expect(error.message).toBe(`${join(directory, "events.db")} can't be opened (unable to open database file).`);
});

test("[LOG-17] a data directory that can't be made is refused in one sentence", async () => {
  const directory = join(await temporaryDirectory(), "taken");
  await writeFile(directory, "a file");

  expect((await refusal(directory)).message).toBe(`${join(directory, "events.db")} can't be opened (EEXIST).`);
  expect((await refusal(join(directory, "below"))).message).toBe(
    `${join(directory, "below", "events.db")} can't be opened (ENOTDIR).`,
  );
});

test("[LOG-18] missing steps of the schema are taken, each whole or not at all", async () => {
  const { file } = await closedStore(3);
  const db = new DatabaseSync(file);
  const broken = "CREATE TABLE third (a); CREATE TABLE third (a);";
  expect(() => migrate(db, file, [...MIGRATIONS, "CREATE TABLE second (a);", broken])).toThrow("already exists");
  db.close();

  const again = new DatabaseSync(file);
  onTestFinished(() => again.close());
  expect(again.prepare("PRAGMA user_version").get()).toEqual({ user_version: MIGRATIONS.length + 1 });
  expect(again.prepare("SELECT count(*) AS count FROM sqlite_schema WHERE name IN ('second', 'third')").get()).toEqual({
    count: 1,
  });
  expect(again.prepare("SELECT count(*) AS count FROM events").get()).toEqual({ count: 3 });
});
