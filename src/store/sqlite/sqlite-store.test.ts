import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { StorageFailed } from "../../hub/ports.ts";
import { alter, closedStore } from "../../../test/store/closed-store.ts";
import { ANN, BOB, output, status } from "../../../test/store/test-log.ts";
import { temporaryDirectory } from "../../../test/support/temporary.ts";
import { openSqliteStore, type SqliteStore } from "./sqlite-store.ts";

async function open(directory: string): Promise<SqliteStore> {
  const store = await openSqliteStore(directory, { now: Date.now });
  onTestFinished(() => store.close());
  return store;
}

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
  const many = Array.from({ length: 70_000 }, () => output(""));
  await store.events.append(BOB, "any", many, "process");
  const seen = store.events.head;
  await store.close();
  alter(file, "DELETE FROM events WHERE sequence > 70000; UPDATE meta SET clean = 0, last = 0, boot_id = 'earlier'");

  const again = await open(directory);
  const appended = await again.events.append(ANN, 70_000, [output("new")], "process");

  expect(seen).toBe(140_000);
  expect(appended.ok && appended.events[0]!.sequence).toBeGreaterThan(seen);
});

test("[LOG-15] when the store's thread dies, what waits and what follows is rejected", async () => {
  const thread = new Promise<Worker>((resolve) => process.once("worker", resolve));
  const store = await openSqliteStore(await temporaryDirectory(), { now: Date.now });
  await store.events.append(ANN, 0, [output("stored")], "process");
  const feed = store.events.subscribe({ after: 1 }, new AbortController().signal)[Symbol.asyncIterator]();
  const next = feed.next();

  const ended = (await thread).terminate();
  const waiting = Promise.allSettled([
    next,
    store.events.append(ANN, 1, [output("lost")], "process"),
    store.credentials.all(),
  ]);
  await ended;

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
    keepEvents: new Set<number>(),
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
