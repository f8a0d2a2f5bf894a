/** A SQLite store that was closed, and a way to change its file behind its back. */
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

/** Runs SQL in the file of a store that is closed. */
export function alter(file: string, sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
}
