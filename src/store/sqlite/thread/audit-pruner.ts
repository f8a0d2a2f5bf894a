/**
 * Removes decisions that are too old, then those that are too many: from the stream that holds the most, its oldest
 * first. Within a stream nothing is removed before what it follows from: an approval whose decision alone was gone
 * would be pending again, a session whose end alone was gone would live again. Rules LOG-9, LOG-22.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { EventType } from "../../../domain/event.ts";
import type { PruneRequest } from "../messages.ts";
import { cutsOf } from "./fair-share.ts";
import { type ClassId, ROW_BYTES } from "./figures.ts";
import type { Ledger } from "./ledger.ts";
import type { Streams } from "./names.ts";
import type { Candidate, Removal } from "./removal.ts";

/** What a session, a workspace or a host is rebuilt from. */
const STATE_TYPES: ReadonlySet<string> = new Set<EventType>(["status", "workspace", "host"]);

/** Rows looked at between two pauses: a few milliseconds. */
const REMOVED_ROWS = 256;
const MEASURED_ROWS = 1_000;

type Sweep = {
  readonly request: PruneRequest;
  readonly keep: ReadonlySet<number | undefined>;
  readonly keepEvents: ReadonlySet<number>;
};

export class AuditPruner {
  readonly #ledger: Ledger;
  readonly #streams: Streams;
  readonly #removal: Removal;
  readonly #rows: StatementSync;

  constructor(db: DatabaseSync, parts: { ledger: Ledger; streams: Streams; removal: Removal }) {
    this.#ledger = parts.ledger;
    this.#streams = parts.streams;
    this.#removal = parts.removal;
    const name = "(SELECT name FROM types WHERE id = type)";
    const ofClass = (id: ClassId): string =>
      `SELECT sequence, stream, class, at, octet_length(payload) + ${ROW_BYTES}, ${name}
       FROM events INDEXED BY events_to_keep WHERE class > 0 AND class = ${id} AND sequence > ?1 AND sequence <= ?2`;
    this.#rows = db.prepare(`${ofClass(1)} UNION ALL ${ofClass(2)} ORDER BY sequence LIMIT ?3`);
    this.#rows.setReturnArrays(true);
  }

  /** `pause` lets other work go first and answers whether to go on. Answers how many were removed. */
  async prune(request: PruneRequest, pause: () => Promise<boolean>): Promise<number> {
    const keep = new Set(request.keep.map((name) => this.#streams.find(name)?.id));
    const sweep: Sweep = { request, keep, keepEvents: new Set(request.keepEvents) };
    return (await this.#pruneByAge(sweep, pause)) + (await this.#pruneByBytes(sweep, pause));
  }

  async #pruneByAge(sweep: Sweep, pause: () => Promise<boolean>): Promise<number> {
    const before = sweep.request.now - sweep.request.auditMaxAgeMs;
    let removed = 0;
    for (const rows of this.#chunks(sweep, REMOVED_ROWS)) {
      const old = rows.filter((row) => row[3] < before);
      removed += this.#removal.remove(
        old.filter((row) => isRemovable(row, sweep)),
        sweep.request.now,
      );
      // Times never decrease along the sequence.
      if (old.length < rows.length || !(await pause())) break;
    }
    return removed;
  }

  async #pruneByBytes(sweep: Sweep, pause: () => Promise<boolean>): Promise<number> {
    const { auditMaxBytes } = sweep.request;
    if (this.#ledger.bytes[1] <= auditMaxBytes) return 0;
    const held = new Map<number, number>();
    for (const rows of this.#chunks(sweep, MEASURED_ROWS)) {
      // What must stay counts against nobody: else whoever fills a live session would drive out all the others.
      for (const row of rows)
        if (isRemovable(row, sweep)) held.set(holderOf(row), (held.get(holderOf(row)) ?? 0) + row[4]);
      if (!(await pause())) return 0;
    }
    const cuts = cutsOf(held, auditMaxBytes);
    let removed = 0;
    for (const rows of cuts.size === 0 ? [] : this.#chunks(sweep, REMOVED_ROWS)) {
      const due = rows.filter((row) => isRemovable(row, sweep) && takeFrom(cuts, row));
      removed += this.#removal.remove(due, sweep.request.now);
      if (cuts.size === 0 || !(await pause())) break;
    }
    return removed;
  }

  /** All audit that there was when the sweep was asked for: what came later may be needed by what came later. */
  *#chunks({ request }: Sweep, size: number): Generator<readonly Candidate[]> {
    let after = 0;
    for (;;) {
      const rows = this.#rows.all(after, request.through, size) as unknown as Candidate[];
      if (rows.length > 0) yield rows;
      if (rows.length < size) return;
      after = rows.at(-1)![0];
    }
  }
}

function isRemovable([sequence, stream, , , , typeName]: Candidate, { keep, keepEvents }: Sweep): boolean {
  return !keepEvents.has(sequence) && !(keep.has(stream) && STATE_TYPES.has(typeName));
}

/** Housekeeping apart: what is asked of the hub must not drive out who was let in. */
function holderOf([, stream, retention]: Candidate): number {
  return stream * 4 + retention;
}

/** True if the row's holder still has to give something up. */
function takeFrom(cuts: Map<number, number>, row: Candidate): boolean {
  const holder = holderOf(row);
  const left = cuts.get(holder);
  if (left === undefined) return false;
  if (left > row[4]) cuts.set(holder, left - row[4]);
  else cuts.delete(holder);
  return true;
}
