/** Rows of decisions with their names and their links, for who writes the chain and for who checks it. */
import type { Actor } from "../../domain/actor.ts";
import type { ChainedEvent, Link } from "../../domain/audit-chain.ts";
import type { EventType } from "../../domain/event.ts";

export type AuditRow = {
  readonly sequence: number;
  readonly class: number;
  readonly at: number;
  readonly position: number | null;
  readonly cursor: number | null;
  readonly payload: string;
  readonly chain: Uint8Array | null;
  /** Null when the row names what isn't there. */
  readonly stream: string | null;
  readonly type: string | null;
  readonly source: string | null;
};

const DIGEST_BYTES = 32;

/** In order of sequence; parameters: after, up to, limit. Two arms, merged lazily: one range would have to be sorted. */
export const AUDIT_ROWS = `${arm(1)} UNION ALL ${arm(2)} ORDER BY sequence LIMIT ?3`;

function arm(classId: number): string {
  return `SELECT sequence, class, at, position, cursor, payload, chain,
    (SELECT name FROM streams WHERE id = stream) AS stream,
    (SELECT name FROM types WHERE id = type) AS type,
    (SELECT name FROM sources WHERE id = source) AS source
  FROM events INDEXED BY events_to_keep
  WHERE class > 0 AND class = ${classId} AND sequence > ?1 AND sequence <= ?2`;
}

export function eventOf(row: AuditRow): ChainedEvent {
  const { sequence, position, cursor, payload } = row;
  return {
    sequence,
    sessionId: row.stream ?? "",
    type: (row.type ?? "") as EventType,
    timestamp: timeOf(row.at),
    payload,
    source: decodeSource(row.source ?? ""),
    ...(position === null ? {} : { position }),
    ...(cursor === null ? {} : { cursor }),
  };
}

/** The inverse of the name that `AppendBatch` gives a source; a kind has no spaces. */
export function decodeSource(name: string): Actor {
  const space = name.indexOf(" ");
  return { kind: name.slice(0, space) as Actor["kind"], id: name.slice(space + 1) };
}

export function packLink({ digest, chain }: Link): Buffer {
  return Buffer.from(digest + chain, "hex");
}

/** Of any bytes: what isn't a link is equal to none. */
export function unpackLink(stored: Uint8Array | null): Link {
  const hex = Buffer.from(stored ?? []).toString("hex");
  return { digest: hex.slice(0, DIGEST_BYTES * 2), chain: hex.slice(DIGEST_BYTES * 2) };
}

/** A time that was tampered with may be none. */
function timeOf(at: number): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? String(at) : time.toISOString();
}
