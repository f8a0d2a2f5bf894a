import { mkdir, open as openFile, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { StorageFailed } from "../../hub/ports.ts";
import { ANN, BOB, output, status } from "../../../test/store/test-log.ts";
import { temporaryDirectory } from "../../../test/support/temporary.ts";
import { openSqliteStore, type SqliteStore } from "./sqlite-store.ts";
import { StoreUnusable } from "./store-unusable.ts";
import { migrate, MIGRATIONS } from "./thread/migrations.ts";

async function open(directory: string): Promise<SqliteStore> {
  const store = await openSqliteStore(directory, { now: Date.now });
  onTestFinished(() => store.close());
  return store;
}

/** Leaves a store behind that holds `events` events and was closed. */
async function closedStore(events: number): Promise<{ directory: string; file: string }> {
  const directory = await temporaryDirectory();
  const store = await openSqliteStore(directory, { now: Date.now });
  await store.events.append(
    ANN,
    0,
    Array.from({ length: events }, (_, index) => output(`text ${index}`)),
    "process",
  );
  await store.close();
  return { directory, file: store.file };
}

/** Runs SQL in the file of a store that is closed. */
function alter(file: string, sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
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

test("[LOG-17] a database that was damaged while nobody closed it is refused and left as it is", async () => {
  const { directory, file } = await closedStore(5_000);
  alter(file, "UPDATE meta SET clean = 0");
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

test("[LOG-19] the store's directory and files are its owner's alone", async () => {
  const directory = join(await temporaryDirectory(), "data");
  const store = await open(directory);
  await store.events.append(ANN, 0, [output("secret")], "power");

  const paths = [directory, store.file, `${store.file}-wal`];
  const modes = await Promise.all(paths.map(async (path) => (await stat(path)).mode & 0o777));

  expect(modes).toEqual([0o700, 0o600, 0o600]);
});

test("[LOG-5] after a loss of power sequences go on where nobody has seen one", async () => {
  const { directory, file } = await closedStore(1_000);
  // What the disk may hold then: the last flush, made when the store was opened and the first events were stored.
  alter(
    file,
    "DELETE FROM events WHERE sequence > 400; UPDATE meta SET clean = 0, last = 0, counted = 0, boot_id = 'earlier'",
  );

  const store = await open(directory);
  expect(store.events.head).toBe(400);
  expect(await store.events.append(ANN, 1_000, [output("late")], "process")).toEqual({ ok: false, version: 400 });
  const appended = await store.events.append(ANN, 400, [status("active"), output("new")], "process");

  const first = appended.ok ? appended.events[0]!.sequence : 0;
  expect(first).toBeGreaterThan(65_536);
  expect(await store.events.read({ after: 1_000, limit: 10 })).toMatchObject([
    { sequence: first },
    { sequence: first + 1 },
  ]);
  expect(await store.events.read({ after: 399, limit: 10 })).toHaveLength(3);
});

test("[LOG-5] after the death of the process alone no sequence is skipped", async () => {
  const { directory, file } = await closedStore(1_000);
  alter(file, "UPDATE meta SET clean = 0, last = 0, counted = 0");

  const store = await open(directory);

  expect(await store.events.append(ANN, 1_000, [output("next")], "process")).toMatchObject({
    ok: true,
    events: [{ sequence: 1_001 }],
  });
  expect(await store.integrityCheck()).toBe("ok");
});

test("[LOG-5] more events than one flush of the ceiling covers", async () => {
  const { directory, file } = await closedStore(70_000);
  const store = await openSqliteStore(directory, { now: Date.now });
  for (let index = 0; index < 5; index += 1) {
    await store.events.append(
      BOB,
      "any",
      Array.from({ length: 30_000 }, () => output("")),
      "process",
    );
  }
  const seen = store.events.head;
  await store.close();
  alter(file, "DELETE FROM events WHERE sequence > 70000; UPDATE meta SET clean = 0, last = 0, boot_id = 'earlier'");

  const again = await open(directory);
  const appended = await again.events.append(ANN, 70_000, [output("new")], "process");

  expect(seen).toBe(220_000);
  expect(appended.ok && appended.events[0]!.sequence).toBeGreaterThan(seen);
});

test("[LOG-15] when the store's thread dies, what waits and what follows is rejected", async () => {
  const thread = new Promise<Worker>((resolve) => process.once("worker", resolve));
  const store = await openSqliteStore(await temporaryDirectory(), { now: Date.now });
  await store.events.append(ANN, 0, [output("stored")], "process");
  const feed = store.events.subscribe({ after: 1 }, new AbortController().signal)[Symbol.asyncIterator]();
  const waiting = Promise.allSettled([
    feed.next(),
    store.events.append(ANN, 1, [output("lost")], "process"),
    store.credentials.all(),
  ]);

  await (await thread).terminate();

  for (const result of await waiting) {
    expect(result).toMatchObject({ status: "rejected", reason: expect.any(StorageFailed) as unknown });
  }
  await expect(store.events.append(ANN, 1, [output("later")], "process")).rejects.toThrow(StorageFailed);
  await expect(store.events.read({ limit: 1 })).rejects.toThrow("restart the hub");
  expect(store.problem()).toContain("restart the hub");
  await store.close();
});

test("[LOG-10] freed room is used again and given back", async () => {
  const directory = await temporaryDirectory();
  const store = await open(directory);
  const text = "x".repeat(1_000);
  const limits = {
    activityMaxAgeMs: 1e9,
    activityMaxBytes: 1e6,
    auditMaxAgeMs: 1e9,
    auditMaxBytes: 1e6,
    keep: new Set<string>(),
  };
  const sizes: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    for (let index = 0; index < 20; index += 1) {
      await store.events.append(
        ANN,
        "any",
        Array.from({ length: 500 }, () => output(text)),
        "process",
      );
    }
    await store.events.prune(limits);
    await store.events.append(ANN, "any", [output("")], "power");
    sizes.push((await stat(store.file)).size + (await stat(`${store.file}-wal`)).size);
  }

  expect(Math.max(...sizes)).toBeLessThan(40e6);
  expect(await store.integrityCheck()).toBe("ok");
  await store.close();
  expect((await stat(store.file)).size).toBeLessThan(8e6);
});
