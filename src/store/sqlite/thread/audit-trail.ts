/** Reads the chain as audit lines, in order, for who keeps them outside the store. Rules AUD-5, AUD-6. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { auditLine, type ChainHead, eventBody } from "../../../domain/audit-chain.ts";
import type { AuditHead, AuditPage } from "../../../hub/ports.ts";
import { AUDIT_ROWS, type AuditRow, eventOf, unpackLink } from "../audit-rows.ts";
import { type AuditChain, sha256 } from "./audit-chain.ts";

/** Lines of one page: bounds what is held in memory on the way. */
const PAGE_LINES = 200;

type CheckpointRow = { readonly id: number; readonly after: number; readonly body: string; readonly chain: string };

type Entry = { readonly line: string; readonly end: ChainHead };

export class AuditTrailReader {
  readonly #chain: AuditChain;
  readonly #rows: StatementSync;
  readonly #checkpoints: StatementSync;
  readonly #checkpoint: StatementSync;
  readonly #before: StatementSync;
  readonly #link: StatementSync;

  constructor(db: DatabaseSync, chain: AuditChain) {
    this.#chain = chain;
    const columns = "id, after, body, lower(hex(chain)) AS chain";
    this.#rows = db.prepare(AUDIT_ROWS);
    this.#checkpoints = db.prepare(
      `SELECT ${columns} FROM audit_checkpoints WHERE id > ? AND after < ? ORDER BY id LIMIT ${PAGE_LINES}`,
    );
    this.#checkpoint = db.prepare(`SELECT ${columns} FROM audit_checkpoints WHERE id = ?`);
    this.#before = db.prepare("SELECT max(id) AS id FROM audit_checkpoints WHERE after < ?");
    this.#link = db.prepare(
      `SELECT chain FROM events WHERE sequence = ?1 AND class > 0
       UNION ALL SELECT chain FROM audit_removed WHERE sequence = ?1`,
    );
  }

  /** The first of these heads that is a place in the chain. */
  find(heads: readonly AuditHead[]): ChainHead | undefined {
    for (const head of heads) {
      const places = [this.#findEvent(head.sequence), this.#findCheckpoint(head.checkpoint ?? 0)];
      const found = places.find((place) => place?.chain === head.chain);
      if (found !== undefined) return found;
    }
    const { base } = this.#chain.newest;
    return heads.some(({ chain }) => chain === base.chain) ? base : undefined;
  }

  /** What follows a place, or everything that is kept; nothing at the end. */
  page(place: ChainHead | undefined): AuditPage | undefined {
    let { sequence, checkpoint } = place ?? { sequence: 0, checkpoint: 0 };
    const rows = this.#rows.all(sequence, Number.MAX_SAFE_INTEGER, PAGE_LINES) as unknown as AuditRow[];
    const until = rows.length < PAGE_LINES ? Number.MAX_SAFE_INTEGER : rows.at(-1)!.sequence;
    const checkpoints = this.#checkpoints.all(checkpoint, until) as unknown as CheckpointRow[];
    const entries: Entry[] = [];
    // Those that did not fit, and the rows behind them, come with the next page.
    const end = checkpoints.length < PAGE_LINES ? until : checkpoints.at(-1)!.after;
    for (const row of [...rows, undefined]) {
      for (; checkpoints[0] !== undefined && checkpoints[0].after < (row?.sequence ?? Infinity); checkpoints.shift()) {
        const { id, body, chain } = checkpoints[0];
        checkpoint = id;
        entries.push({ line: auditLine(body, chain), end: { sequence, checkpoint, chain } });
      }
      if (row === undefined || row.sequence > end) break;
      ({ sequence } = row);
      const { chain } = unpackLink(row.chain);
      entries.push({ line: auditLine(eventBody(eventOf(row), sha256), chain), end: { sequence, checkpoint, chain } });
    }
    const last = entries.at(-1);
    return last === undefined ? undefined : { lines: entries.map(({ line }) => line), end: last.end };
  }

  #findEvent(sequence: number): ChainHead | undefined {
    const row = this.#link.get(sequence);
    if (row === undefined) return undefined;
    const checkpoint = Number(this.#before.get(sequence)?.["id"] ?? 0);
    return { sequence, checkpoint, chain: unpackLink(row["chain"] as Uint8Array | null).chain };
  }

  #findCheckpoint(id: number): ChainHead | undefined {
    const row = this.#checkpoint.get(id) as unknown as CheckpointRow | undefined;
    return row === undefined ? undefined : { sequence: row.after, checkpoint: row.id, chain: row.chain };
  }
}
