/**
 * Group commit: the appends that wait are stored in one transaction, flushed if one of them asks for it. Each is
 * decided in the order it came, against the versions that those before it left. Rules LOG-1..LOG-3.
 */
import type { SQLInputValue, StatementSync } from "node:sqlite";
import { type EventType, type RetentionClass, retentionOf } from "../../../domain/event.ts";
import { ANY_VERSION, type AppendMessage, HEAD_WIDTH, ROW_WIDTH } from "../messages.ts";
import { decodeSource } from "../audit-rows.ts";
import type { AuditChain } from "./audit-chain.ts";
import type { Connection } from "./connection.ts";
import { type ClassId, ROW_BYTES } from "./figures.ts";
import type { Ledger } from "./ledger.ts";
import type { Sources, Stream, Streams } from "./names.ts";

/** Rows per INSERT: ten bring most of the gain over one; SQLite slows down again with hundreds of parameters. */
const ROWS = 10;

export const CLASS_IDS = { activity: 0, audit: 1, housekeeping: 2 } as const satisfies Record<RetentionClass, ClassId>;

/** A touched leaf of the table and of each index, and one for what changed above them. */
const PAGES_PER_COMMIT = 4;
const PAGE_BYTES = 4096;

type Group = { readonly message: AppendMessage; readonly payloads: readonly string[]; readonly sourceIds: number[] };

type Append = {
  readonly name: string;
  readonly stream: Stream;
  readonly at: number;
  readonly from: number;
  readonly to: number;
};

export class Appender {
  readonly #connection: Connection;
  readonly #ledger: Ledger;
  readonly #streams: Streams;
  readonly #sources: Sources;
  readonly #chain: AuditChain;
  readonly #types: readonly (string | undefined)[];
  readonly #classes: readonly (ClassId | undefined)[];
  readonly #insertOne: StatementSync;
  readonly #insertMany: StatementSync;
  readonly #insertLinked: StatementSync;

  constructor(parts: {
    connection: Connection;
    ledger: Ledger;
    chain: AuditChain;
    streams: Streams;
    sources: Sources;
    types: readonly (string | undefined)[];
  }) {
    this.#connection = parts.connection;
    this.#ledger = parts.ledger;
    this.#streams = parts.streams;
    this.#sources = parts.sources;
    this.#chain = parts.chain;
    this.#types = parts.types;
    this.#classes = parts.types.map((name) =>
      name === undefined ? undefined : CLASS_IDS[retentionOf(name as EventType)],
    );
    this.#insertOne = parts.connection.db.prepare(insertion(1));
    this.#insertMany = parts.connection.db.prepare(insertion(ROWS));
    this.#insertLinked = parts.connection.db.prepare(LINKED_INSERTION);
  }

  /** One outcome per append, see `FromThread`. Throws when nothing of the group was stored. */
  write(messages: readonly AppendMessage[]): Float64Array {
    try {
      return this.#tryToWrite(messages);
    } catch (error) {
      // Else a full disk would refuse an append now and then, and take the next one.
      if (!this.#connection.hasMadeRoom) throw error;
      return this.#tryToWrite(messages);
    }
  }

  #tryToWrite(messages: readonly AppendMessage[]): Float64Array {
    const figures = this.#ledger.figures();
    const links = this.#chain.state;
    const count = messages.reduce((sum, message) => sum + message.rows.length / ROW_WIDTH, 0);
    const bytes = messages.reduce((sum, message) => sum + message.payloads.length, 0);
    const raised = this.#ledger.reserve(count);
    const power = raised || messages.some((message) => message.power);
    const pages = PAGES_PER_COMMIT + Math.ceil((bytes + count * ROW_BYTES) / PAGE_BYTES);
    try {
      return this.#connection.transaction(power ? "power" : "process", pages, () => {
        const outcomes: number[] = [];
        for (const message of messages) this.#writeMessage(message, outcomes);
        if (raised) this.#ledger.save();
        return Float64Array.from(outcomes);
      });
    } catch (error) {
      this.#ledger.restore(figures);
      this.#chain.restore(links);
      this.#streams.forget();
      this.#sources.forget();
      throw error;
    }
  }

  #writeMessage(message: AppendMessage, outcomes: number[]): void {
    const group = { message, payloads: message.payloads.split("\n"), sourceIds: [] };
    let row = 0;
    for (let index = 0; index < message.streams.length; index += 1) {
      const expected = message.heads[index * HEAD_WIDTH]!;
      const at = message.heads[index * HEAD_WIDTH + 1]!;
      const count = message.heads[index * HEAD_WIDTH + 2]!;
      const name = message.streams[index]!;
      const version = this.#streams.find(name)?.version ?? 0;
      if (expected !== ANY_VERSION && expected !== version) {
        outcomes.push(-1 - version);
      } else {
        outcomes.push(this.#ledger.last + 1);
        if (count > 0)
          this.#insertRows(group, { name, stream: this.#streams.findOrCreate(name), at, from: row, to: row + count });
      }
      row += count;
    }
  }

  #insertRows(group: Group, append: Append): void {
    const { stream, at, to } = append;
    let row = append.from;
    while (row < to) {
      const values: SQLInputValue[] = [this.#ledger.last + 1, stream.id, at];
      const isActivity = this.#classOf(group, row) === 0;
      const rows = isActivity && to - row >= ROWS && this.#areActivity(group, row) ? ROWS : 1;
      for (let end = row + rows; row < end; row += 1) this.#pushRow(group, row, values);
      if (isActivity) (rows === ROWS ? this.#insertMany : this.#insertOne).run(...values);
      else this.#insertLinked.run(...values, this.#link(group, row - 1, append));
      this.#ledger.last += rows;
    }
    stream.version = this.#ledger.last;
    this.#ledger.lastAt = at;
  }

  #link({ message, payloads }: Group, row: number, { name, at }: Append): Buffer {
    const [type, source, position, cursor] = message.rows.subarray(row * ROW_WIDTH, (row + 1) * ROW_WIDTH);
    return this.#chain.link({
      sequence: this.#ledger.last + 1,
      sessionId: name,
      type: this.#types[type!] as EventType,
      timestamp: new Date(at).toISOString(),
      payload: payloads[row]!,
      source: decodeSource(message.sources[source!]!),
      ...(Number.isNaN(position) ? {} : { position: position! }),
      ...(Number.isNaN(cursor) ? {} : { cursor: cursor! }),
    });
  }

  #classOf({ message }: Group, row: number): ClassId {
    return this.#classes[message.rows[row * ROW_WIDTH]!]!;
  }

  #areActivity(group: Group, from: number): boolean {
    for (let row = from; row < from + ROWS; row += 1) if (this.#classOf(group, row) !== 0) return false;
    return true;
  }

  #pushRow(group: Group, row: number, values: SQLInputValue[]): void {
    const { message, payloads } = group;
    const base = row * ROW_WIDTH;
    const type = message.rows[base]!;
    const source = message.rows[base + 1]!;
    const position = message.rows[base + 2]!;
    const cursor = message.rows[base + 3]!;
    const payload = payloads[row]!;
    const sourceId = (group.sourceIds[source] ??= this.#sources.findOrCreate(message.sources[source]!));
    const retention = this.#classes[type]!;
    this.#ledger.bytes[retention === 0 ? 0 : 1] += Buffer.byteLength(payload) + ROW_BYTES;
    values.push(
      type,
      retention,
      sourceId,
      Number.isNaN(position) ? null : position,
      Number.isNaN(cursor) ? null : cursor,
      payload,
    );
  }
}

/** Parameters: first sequence, stream, time, then per row type, class, source, position, cursor, payload. */
function insertion(rows: number): string {
  const tuples = Array.from({ length: rows }, (_, row) => {
    const [type, retention, source, position, cursor, payload] = [4, 5, 6, 7, 8, 9].map(
      (first) => `?${first + row * 6}`,
    );
    return `(?1 + ${row}, ?2, ${type}, ${retention}, ?3, ${source}, ${position}, ${cursor}, ${payload})`;
  });
  return `INSERT INTO events (sequence, stream, type, class, at, source, position, cursor, payload) VALUES ${tuples.join()}`;
}

/** One decision: as `insertion(1)`, then its link. */
const LINKED_INSERTION = `INSERT INTO events (sequence, stream, type, class, at, source, position, cursor, payload, chain)
  VALUES (?1, ?2, ?4, ?5, ?3, ?6, ?7, ?8, ?9, ?10)`;
