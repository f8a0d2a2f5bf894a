/**
 * Pages of stored events. A cursor from before what is kept is refused, never skipped silently (LOG-8); only the
 * classes that the filter may match are looked at, and of one stream only its own removals.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type EventType, retentionOf } from "../../../domain/event.ts";
import { CursorExpired } from "../../../hub/ports.ts";
import { ABSENT, type Page, PAGE_WIDTH, type PageRequest } from "../messages.ts";
import { CLASS_IDS } from "./appender.ts";
import { CLASSES, type ClassId } from "./figures.ts";
import type { Ledger } from "./ledger.ts";
import type { Sources, Streams } from "./names.ts";

/** Prepared shapes of queries; a caller can ask for any subset of types. */
const CACHED_STATEMENTS = 100;

/** Rows fetched before their size is looked at: fetching all at once is twice as fast as stepping through them. */
const CHUNK_ROWS = 500;

/** More than the events that can be stored behind one with a larger position: one announcement of output. */
const OVERTAKEN_MAX = 8;

/** A larger payload is fetched by itself, and only if the page has room for it: bounds what a chunk holds. */
const SMALL_BYTES = 16 * 1024;

/** As in `Fetched`. */
const COLUMNS = `sequence, at, type, source, stream, position, cursor, octet_length(payload),
  iif(octet_length(payload) <= ${SMALL_BYTES}, payload, NULL)`;

type Fetched = [
  sequence: number,
  at: number,
  type: number,
  source: number,
  stream: number,
  position: number | null,
  cursor: number | null,
  bytes: number,
  small: string | null,
];

type Row = { readonly fetched: Fetched; readonly payload: string };

export class Reader {
  readonly #db: DatabaseSync;
  readonly #ledger: Ledger;
  readonly #streams: Streams;
  readonly #sources: Sources;
  readonly #typeIds: ReadonlyMap<string, number>;
  readonly #payload: StatementSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(parts: {
    db: DatabaseSync;
    ledger: Ledger;
    streams: Streams;
    sources: Sources;
    types: readonly (string | undefined)[];
  }) {
    this.#db = parts.db;
    this.#payload = parts.db.prepare("SELECT payload FROM events WHERE sequence = ?");
    this.#ledger = parts.ledger;
    this.#streams = parts.streams;
    this.#sources = parts.sources;
    this.#typeIds = new Map(parts.types.flatMap((name, id) => (name === undefined ? [] : [[name, id] as const])));
  }

  page(request: PageRequest): Page {
    const stream = request.sessionId === undefined ? undefined : this.#streams.find(request.sessionId);
    if (request.sessionId !== undefined && stream === undefined)
      return this.#encode([], { through: this.#ledger.last, removed: 0 });
    const classes = classesOf(request.types);
    const floors = stream === undefined ? this.#ledger.floors : this.#streams.floors(stream.id);
    const after = request.after ?? 0;
    const removed = Math.max(0, ...classes.map((id) => floors[id]));
    if (request.after !== undefined && after < removed && removed > request.tolerated) throw new CursorExpired(removed);

    const ofStream = stream !== undefined;
    const statement = this.#prepare(selection(ofStream, classes, this.#typesOf(request)));
    const fetch = (from: number, count: number): Fetched[] =>
      statement.all(from, count, ...(ofStream ? [stream.id] : [])) as unknown as Fetched[];
    const { rows, isLast } = this.#collect(fetch, request);
    const through = isLast ? this.#ledger.last : (rows.at(-1)?.fetched[0] ?? after);
    return this.#encode(rows, { through, removed });
  }

  /** A page of the newest event of a type in a stream, or of none. */
  last(sessionId: string, type: EventType): Page {
    const stream = this.#streams.find(sessionId);
    const typeId = this.#typeIds.get(type);
    const end = { through: this.#ledger.last, removed: 0 };
    if (stream === undefined || typeId === undefined) return this.#encode([], end);
    const where = `stream = ? AND class = ${CLASS_IDS[retentionOf(type)]} AND +type = ${typeId}`;
    const statement = this.#prepare(`SELECT ${COLUMNS} FROM events WHERE ${where} ORDER BY sequence DESC LIMIT 1`);
    const found = statement.all(stream.id) as unknown as Fetched[];
    return this.#encode(
      found.map((fetched) => this.#whole(fetched)),
      end,
    );
  }

  /** A page of the event with the largest position in a stream, or of none. */
  lastPlaced(sessionId: string): Page {
    const stream = this.#streams.find(sessionId);
    const end = { through: this.#ledger.last, removed: 0 };
    if (stream === undefined) return this.#encode([], end);
    const found = CLASSES.flatMap((id) => {
      const where = `stream = ? AND class = ${id} AND position IS NOT NULL`;
      const statement = this.#prepare(
        `SELECT ${COLUMNS} FROM events WHERE ${where} ORDER BY sequence DESC LIMIT ${OVERTAKEN_MAX}`,
      );
      return statement.all(stream.id) as unknown as Fetched[];
    });
    const furthest = found.sort((a, b) => (b[5] ?? 0) - (a[5] ?? 0) || b[0] - a[0]).slice(0, 1);
    return this.#encode(
      furthest.map((fetched) => this.#whole(fetched)),
      end,
    );
  }

  /** Ends where the next row would make the page too large; a page has at least one. */
  #collect(
    fetch: (from: number, count: number) => readonly Fetched[],
    { after = 0, limit, maxBytes }: Pick<PageRequest, "limit" | "maxBytes"> & { after?: number | undefined },
  ): { rows: readonly Row[]; isLast: boolean } {
    const rows: Row[] = [];
    let bytes = 0;
    for (let from = after; rows.length < limit;) {
      const wanted = Math.min(limit - rows.length, CHUNK_ROWS);
      const chunk = fetch(from, wanted);
      for (const fetched of chunk) {
        bytes += fetched[7];
        if (bytes > maxBytes && rows.length > 0) return { rows, isLast: false };
        rows.push(this.#whole(fetched));
        [from] = fetched;
      }
      if (chunk.length < wanted) return { rows, isLast: true };
    }
    return { rows, isLast: false };
  }

  #whole(fetched: Fetched): Row {
    const payload = fetched[8] ?? String(this.#payload.get(fetched[0])?.["payload"]);
    return { fetched, payload };
  }

  #typesOf(request: PageRequest): readonly number[] | undefined {
    if (request.types === undefined) return undefined;
    return [...new Set(request.types)].flatMap((name) => this.#typeIds.get(name) ?? []);
  }

  #encode(rows: readonly Row[], end: Pick<Page, "through" | "removed">): Page {
    const numbers = new Float64Array(rows.length * PAGE_WIDTH);
    const streams: string[] = [];
    const sources: string[] = [];
    const streamIndex = new Map<number, number>();
    const sourceIndex = new Map<number, number>();
    let at = 0;
    for (const { fetched } of rows) {
      const [sequence, time, type, source, stream, position, cursor] = fetched;
      if (!sourceIndex.has(source)) sourceIndex.set(source, sources.push(this.#sources.name(source)) - 1);
      if (!streamIndex.has(stream)) streamIndex.set(stream, streams.push(this.#streams.name(stream)) - 1);
      numbers[at] = sequence;
      numbers[at + 1] = time;
      numbers[at + 2] = type;
      numbers[at + 3] = sourceIndex.get(source)!;
      numbers[at + 4] = streamIndex.get(stream)!;
      numbers[at + 5] = position ?? ABSENT;
      numbers[at + 6] = cursor ?? ABSENT;
      at += PAGE_WIDTH;
    }
    return { rows: numbers, streams, sources, payloads: rows.map((row) => row.payload).join(), ...end };
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    if (this.#statements.size >= CACHED_STATEMENTS) this.#statements.clear();
    const statement = this.#db.prepare(sql);
    statement.setReturnArrays(true);
    this.#statements.set(sql, statement);
    return statement;
  }
}

function classesOf(types: readonly string[] | undefined): readonly ClassId[] {
  if (types === undefined) return [CLASS_IDS.activity, CLASS_IDS.audit];
  const wanted = new Set(types.map((type) => CLASS_IDS[retentionOf(type as EventType)]));
  return CLASSES.filter((id) => wanted.has(id));
}

/**
 * Each arm of the union is one ordered range of an index, and SQLite merges them lazily: with `IN` it would fetch
 * and sort every match to answer the first page.
 */
function selection(ofStream: boolean, classes: readonly ClassId[], types: readonly number[] | undefined): string {
  const ofType = types === undefined ? "" : `AND +type IN (${types.join()})`;
  if (ofStream) return merged(classes.map((id) => `stream = ?3 AND class = ${id} ${ofType}`));
  if (types === undefined) return merged(["class < 2"]);
  return merged(types.map((type) => `type = ${type}`));
}

function merged(conditions: readonly string[]): string {
  const arms = conditions.map((condition) => `SELECT ${COLUMNS} FROM events WHERE ${condition} AND sequence > ?1`);
  if (arms.length === 0) arms.push(`SELECT ${COLUMNS} FROM events WHERE 0 AND ?1`);
  return `${arms.join(" UNION ALL ")} ORDER BY sequence LIMIT ?2`;
}
