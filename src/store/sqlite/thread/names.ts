/** Streams, sources and types by name and by their small id in the file. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ByClass } from "./figures.ts";

/** Names held in memory; a hub that lives for years meets more streams than it needs at a time. */
const CACHED = 10_000;

export type Stream = { readonly id: number; version: number };

export class Streams {
  readonly #byName = new Map<string, Stream>();
  readonly #nameById = new Map<number, string>();
  readonly #find: StatementSync;
  readonly #insert: StatementSync;
  readonly #name: StatementSync;
  readonly #floors: StatementSync;

  constructor(db: DatabaseSync) {
    // The stored version outlives the events that pruning removed.
    this.#find = db.prepare(
      `SELECT id, max(version,
         ifnull((SELECT max(sequence) FROM events WHERE stream = streams.id AND class = 0), 0),
         ifnull((SELECT max(sequence) FROM events WHERE stream = streams.id AND class = 1), 0),
         ifnull((SELECT max(sequence) FROM events WHERE stream = streams.id AND class = 2), 0)) AS version
       FROM streams WHERE name = ?`,
    );
    this.#insert = db.prepare("INSERT INTO streams (name) VALUES (?)");
    this.#name = db.prepare("SELECT name FROM streams WHERE id = ?");
    this.#floors = db.prepare("SELECT activity_floor, audit_floor, housekeeping_floor FROM streams WHERE id = ?");
    this.#floors.setReturnArrays(true);
  }

  find(name: string): Stream | undefined {
    const cached = this.#byName.get(name);
    if (cached !== undefined) return cached;
    const row = this.#find.get(name);
    return row === undefined ? undefined : this.#remember(name, Number(row["id"]), Number(row["version"]));
  }

  /** Inside a transaction. */
  findOrCreate(name: string): Stream {
    return this.find(name) ?? this.#remember(name, Number(this.#insert.run(name).lastInsertRowid), 0);
  }

  name(id: number): string {
    const cached = this.#nameById.get(id);
    if (cached !== undefined) return cached;
    const name = nameIn(this.#name.get(id));
    if (this.#nameById.size >= CACHED) this.#nameById.clear();
    this.#nameById.set(id, name);
    return name;
  }

  floors(id: number): ByClass {
    return this.#floors.get(id) as unknown as ByClass;
  }

  /** After a rollback: versions and new ids that were noted in the meantime aren't in the file. */
  forget(): void {
    this.#byName.clear();
    this.#nameById.clear();
  }

  #remember(name: string, id: number, version: number): Stream {
    if (this.#byName.size >= CACHED) this.#byName.clear();
    const stream = { id, version };
    this.#byName.set(name, stream);
    return stream;
  }
}

export class Sources {
  readonly #idByName = new Map<string, number>();
  readonly #nameById = new Map<number, string>();
  readonly #find: StatementSync;
  readonly #insert: StatementSync;
  readonly #name: StatementSync;

  constructor(db: DatabaseSync) {
    this.#find = db.prepare("SELECT id FROM sources WHERE name = ?");
    this.#insert = db.prepare("INSERT INTO sources (name) VALUES (?)");
    this.#name = db.prepare("SELECT name FROM sources WHERE id = ?");
  }

  /** Inside a transaction. */
  findOrCreate(name: string): number {
    const cached = this.#idByName.get(name);
    if (cached !== undefined) return cached;
    const id = Number(this.#find.get(name)?.["id"] ?? this.#insert.run(name).lastInsertRowid);
    if (this.#idByName.size >= CACHED) this.#idByName.clear();
    this.#idByName.set(name, id);
    return id;
  }

  name(id: number): string {
    const cached = this.#nameById.get(id);
    if (cached !== undefined) return cached;
    const name = nameIn(this.#name.get(id));
    if (this.#nameById.size >= CACHED) this.#nameById.clear();
    this.#nameById.set(id, name);
    return name;
  }

  forget(): void {
    this.#idByName.clear();
    this.#nameById.clear();
  }
}

function nameIn(row: Record<string, unknown> | undefined): string {
  if (row === undefined) throw new Error("The database is damaged: an event has no stream or source.");
  return String(row["name"]);
}

/** Name of each type by id; ids are not dense in a file that knew other versions. */
export function readTypes(db: DatabaseSync): (string | undefined)[] {
  const names: (string | undefined)[] = [];
  for (const row of db.prepare("SELECT id, name FROM types").all()) names[Number(row["id"])] = String(row["name"]);
  return names;
}
