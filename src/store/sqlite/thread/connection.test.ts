import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../../../test/support/temporary.ts";
import { Connection } from "./connection.ts";

async function open(): Promise<Connection> {
  const connection = Connection.open(join(await temporaryDirectory(), "events.db"), "");
  onTestFinished(() => connection.close());
  return connection;
}

const FULL = { synchronous: 2 };
const NORMAL = { synchronous: 1 };

test("[LOG-4] only what must survive the loss of power is flushed with its transaction", async () => {
  const connection = await open();
  const level = (): unknown => connection.db.prepare("PRAGMA synchronous").get();

  const levels = (["power", "process", "process", "power"] as const).map((it) => connection.transaction(it, 1, level));

  expect(levels).toEqual([FULL, NORMAL, NORMAL, FULL]);
  expect(connection.db.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
});

test("[LOG-1] a transaction that fails leaves nothing behind, and the next one works", async () => {
  const connection = await open();
  const insert = connection.db.prepare("INSERT INTO sources (name) VALUES (?)");
  const failing = (): void => {
    insert.run("one");
    throw new Error("after the first row");
  };

  expect(() => connection.transaction("process", 1, failing)).toThrow("after the first row");
  connection.transaction("process", 1, () => insert.run("two"));

  expect(connection.db.prepare("SELECT name FROM sources").all()).toEqual([{ name: "two" }]);
  expect(connection.broken).toBeUndefined();
});
