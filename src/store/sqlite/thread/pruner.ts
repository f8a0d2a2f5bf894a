/**
 * Removes what is too old or too much in small transactions between which appends go on.
 *
 * Bytes are those of the kept payloads plus a fixed cost per row, not the size of the file: SQLite reuses freed
 * pages for later events, so the file stays at its largest size and a limit on it could never be reached by
 * removing rows. Pages are given back to the file system only when a good part of the file is free (a limit was
 * lowered, a flood is over). Rules LOG-9, LOG-10.
 */
import type { StatementSync } from "node:sqlite";
import type { EventType } from "../../../domain/event.ts";
import type { PruneAnswer, PruneRequest } from "../messages.ts";
import { AuditPruner } from "./audit-pruner.ts";
import type { AuditChain } from "./audit-chain.ts";
import type { AuditCompactor } from "./audit-compactor.ts";
import type { Connection } from "./connection.ts";
import { ROW_BYTES } from "./figures.ts";
import type { Ledger } from "./ledger.ts";
import type { Streams } from "./names.ts";
import { type Candidate, Removal } from "./removal.ts";

/** Rows looked at per transaction: a few milliseconds. */
const CHUNK_ROWS = 256;

/** Free pages worth giving back: a quarter of the file, and at least 4 MiB. */
const FREE_PAGES = 1_024;
const FREE_SHARE = 0.25;

/** Activity that somebody may still wait for: it alone can be left behind below the floor. */
const WAITED_FOR = ["prompt", "prompt_request"] as const satisfies readonly EventType[];

export class Pruner {
  readonly #connection: Connection;
  readonly #ledger: Ledger;
  readonly #removal: Removal;
  readonly #audit: AuditPruner;
  readonly #compactor: AuditCompactor;
  readonly #activity: StatementSync;
  readonly #leftBehind: StatementSync;

  constructor(
    connection: Connection,
    parts: { ledger: Ledger; streams: Streams; chain: AuditChain; compactor: AuditCompactor },
  ) {
    const { ledger, streams, chain, compactor } = parts;
    this.#connection = connection;
    this.#ledger = ledger;
    this.#compactor = compactor;
    this.#removal = new Removal(connection, ledger, chain);
    this.#audit = new AuditPruner(connection.db, { ledger, streams, removal: this.#removal });
    const candidates = `SELECT sequence, stream, class, at, octet_length(payload) + ${ROW_BYTES}, '' FROM events`;
    this.#activity = connection.db.prepare(
      `${candidates} WHERE class = 0 AND sequence > ? ORDER BY sequence LIMIT ${CHUNK_ROWS}`,
    );
    const types = WAITED_FOR.map((name) => `'${name}'`).join();
    this.#leftBehind = connection.db.prepare(
      `${candidates} INDEXED BY events_by_type
       WHERE type IN (SELECT id FROM types WHERE name IN (${types})) AND class = 0 AND sequence <= ?`,
    );
    this.#activity.setReturnArrays(true);
    this.#leftBehind.setReturnArrays(true);
  }

  /** `pause` lets other work go first between two chunks and answers whether to go on. */
  async prune(request: PruneRequest, pause: () => Promise<boolean>): Promise<PruneAnswer> {
    const activity = await this.#pruneActivity(request, pause);
    const audit = (await pause()) ? await this.#audit.prune(request, pause) : 0;
    const { written, now } = request;
    if (written !== undefined && (await pause())) await this.#compactor.compact(written, now, pause);
    while ((await pause()) && this.#shrink());
    return { activity, audit, floor: Math.max(...this.#ledger.floors) };
  }

  /** Oldest first over all streams, so that it never has to look at what stays, which is most of the file. */
  async #pruneActivity(request: PruneRequest, pause: () => Promise<boolean>): Promise<number> {
    const before = request.now - request.activityMaxAgeMs;
    const waitedFor = new Set(request.keepEvents);
    let removed = this.#pruneLeftBehind(request.now, waitedFor);
    // Everything else below the floor is gone: the search begins behind it.
    let after = this.#ledger.floors[0];
    do {
      const rows = this.#activity.all(after) as unknown as Candidate[];
      let bytes = this.#ledger.bytes[0];
      const kept = rows.findIndex((row) => {
        if (row[3] >= before && bytes <= request.activityMaxBytes) return true;
        if (!waitedFor.has(row[0])) bytes -= row[4];
        return false;
      });
      const due = kept === -1 ? rows : rows.slice(0, kept);
      removed += this.#removal.remove(withoutKept(due, waitedFor), request.now);
      if (kept !== -1 || rows.length < CHUNK_ROWS) break;
      after = rows.at(-1)![0];
    } while (await pause());
    return removed;
  }

  /** What was waited for when its time had come, and isn't any more. */
  #pruneLeftBehind(now: number, waitedFor: ReadonlySet<number>): number {
    const rows = this.#leftBehind.all(this.#ledger.floors[0]) as unknown as Candidate[];
    return this.#removal.remove(withoutKept(rows, waitedFor), now);
  }

  /** True if there may be more to give back. */
  #shrink(): boolean {
    const { db } = this.#connection;
    const free = Number(db.prepare("PRAGMA freelist_count").get()?.["freelist_count"]);
    const pages = Number(db.prepare("PRAGMA page_count").get()?.["page_count"]);
    if (free < FREE_PAGES || free < pages * FREE_SHARE) return false;
    this.#connection.transaction("process", CHUNK_ROWS, () => db.exec(`PRAGMA incremental_vacuum(${CHUNK_ROWS})`));
    return true;
  }
}

function withoutKept(rows: readonly Candidate[], kept: ReadonlySet<number>): readonly Candidate[] {
  return rows.filter(([sequence]) => !kept.has(sequence));
}
