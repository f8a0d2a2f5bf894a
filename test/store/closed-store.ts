/** A SQLite store that was closed or killed, and ways to change its files behind its back. */
import { copyFile, open } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { ANN, output } from "./test-log.ts";

/** Leaves a store behind that holds `events` events and was closed. */
export async function closedStore(events: number): Promise<{ directory: string; file: string }> {
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

/** Leaves behind what a hub leaves that is killed after so many appends of one event each. */
export async function killedStore(appends: number): Promise<{ directory: string; file: string; log: string }> {
  const directory = await temporaryDirectory();
  const store = await openSqliteStore(await temporaryDirectory(), { now: Date.now });
  for (let index = 0; index < appends; index += 1) {
    await store.events.append(ANN, "any", [output(`text ${index}`)], "process");
  }
  const file = join(directory, "events.db");
  const log = `${file}-wal`;
  await copyFile(store.file, file);
  await copyFile(`${store.file}-wal`, log);
  await store.close();
  return { directory, file, log };
}

/** Changes `length` bytes of a file from `offset` on. */
export async function damage(file: string, offset: number, length = 1): Promise<void> {
  const handle = await open(file, "r+");
  const { buffer } = await handle.read(Buffer.alloc(length), 0, length, offset);
  const changed = buffer.map((byte) => byte ^ 0x5a);
  await handle.write(changed, 0, length, offset);
  await handle.close();
}

/** Runs SQL in the file of a store that is closed. */
export function alter(file: string, sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
}
