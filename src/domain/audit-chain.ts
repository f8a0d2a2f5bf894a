/**
 * The hash chain over decisions. A record is one audit line: its text without `chain` is what is hashed, and `chain`
 * covers the line before it, so that a file of lines can be checked by itself and against the store. The payload as
 * stored is covered by its own hash, because the line shows its fields under other names. Rules in docs/spec/audit.md.
 */
import { SYSTEM } from "./actor.ts";
import { HUB_STREAM, type Json, type JsonObject, type StoredEvent } from "./event.ts";

/** SHA-256 of a text in UTF-8, as hex. */
export type Sha256 = (text: string) => string;

/** An event with its payload as the store has it, to the byte. */
export type ChainedEvent = Omit<StoredEvent, "payload"> & { readonly payload: string };

/** What stands before the first record. */
export const CHAIN_START = "";

export type Link = { readonly digest: string; readonly chain: string };

export function linkTo(previous: string, body: string, sha256: Sha256): Link {
  const digest = sha256(body);
  return { digest, chain: chainAfter(previous, digest, sha256) };
}

export function chainAfter(previous: string, digest: string, sha256: Sha256): string {
  return sha256(previous + digest);
}

/** The line of an event, without its `chain`. Covers every stored field. */
export function eventBody(event: ChainedEvent, sha256: Sha256): string {
  const { sessionId, timestamp, sequence, type, source, position, cursor, payload } = event;
  const head = { session_id: sessionId, timestamp, sequence, type, by: { kind: source.kind, id: source.id } };
  const place = { position, cursor };
  return JSON.stringify({ ...head, ...place, ...shownFields(payload), payload_sha256: sha256(payload) });
}

export function auditLine(body: string, chain: string): string {
  return `${body.slice(0, -1)},"chain":"${chain}"}`;
}

const LINE = /^(\{.+),"chain":"([\da-f]{64})"\}$/s;

/** The inverse of `auditLine`; undefined for any other text. */
export function splitLine(line: string): { readonly body: string; readonly chain: string } | undefined {
  const [, begin, chain] = LINE.exec(line) ?? [];
  return begin === undefined || chain === undefined ? undefined : { body: `${begin}}`, chain };
}

/** Where a record stands: after the event with this sequence and after this many checkpoints. */
export type ChainPlace = { readonly sequence: number; readonly checkpoint: number };

export type ChainHead = ChainPlace & { readonly chain: string };

/**
 * A record of the chain's own: how it began, or what was removed. The newest one says all that is needed to check what
 * is left: which records there were up to `base`, and which of all were removed since.
 */
export type Checkpoint = {
  readonly id: number;
  /** The newest event before it. */
  readonly after: number;
  readonly timestamp: string;
  readonly chainId: string;
  readonly reason: "begun" | "taken_over" | "removed";
  /** Up to here `manifest` vouches for the records, from here on the chain does. */
  readonly base: ChainHead;
  readonly kept: number;
  /** Fold of the records that were kept up to `base`. */
  readonly manifest: string;
  readonly removed: number;
  /** Fold of the records removed since, in the order of their removal. */
  readonly removals: string;
};

export type Folded = Link & { readonly sequence: number };

export function foldRecord(fold: string, { sequence, digest, chain }: Folded, sha256: Sha256): string {
  return sha256(`${fold} ${sequence} ${digest} ${chain}`);
}

export function firstCheckpoint(begin: Pick<Checkpoint, "chainId" | "reason" | "timestamp">): Checkpoint {
  const base = { sequence: 0, checkpoint: 0, chain: CHAIN_START };
  return { id: 1, after: 0, ...begin, base, kept: 0, manifest: "", removed: 0, removals: "" };
}

/** The line of a checkpoint, without its `chain`. */
export function checkpointBody(checkpoint: Checkpoint): string {
  const { id, after, timestamp, chainId, reason, base, kept, manifest, removed, removals } = checkpoint;
  return JSON.stringify({
    session_id: HUB_STREAM,
    timestamp,
    sequence: after,
    type: "checkpoint",
    by: SYSTEM,
    checkpoint: id,
    chain_id: chainId,
    reason,
    base_sequence: base.sequence,
    base_checkpoint: base.checkpoint,
    base_chain: base.chain,
    kept,
    manifest,
    removed,
    removals,
  });
}

/** Undefined if it isn't the body of a checkpoint, to the byte. Types are as good as the link that covers it. */
export function readCheckpoint(body: string): Checkpoint | undefined {
  const it = parseObject(body);
  const { checkpoint: id, sequence: after, timestamp, chain_id: chainId, reason } = it;
  const { base_sequence: sequence, base_checkpoint: checkpoint, base_chain: chain } = it;
  const { kept, manifest, removed, removals } = it;
  const base = { sequence, checkpoint, chain };
  const read = { id, after, timestamp, chainId, reason, base, kept, manifest, removed, removals } as Checkpoint;
  return checkpointBody(read) === body ? read : undefined;
}

const OWN_FIELDS: ReadonlySet<string> = new Set([
  "session_id",
  "timestamp",
  "sequence",
  "type",
  "by",
  "position",
  "cursor",
  "payload_sha256",
  "chain",
]);

/** What somebody asked approval for (`payload`) is theirs: its names stay. */
function shownFields(payload: string): JsonObject {
  return Object.fromEntries(
    Object.entries(parseObject(payload)).map(([name, value]) => {
      const shown = snakeCase(name);
      return [OWN_FIELDS.has(shown) ? `payload_${shown}` : shown, name === "payload" ? value : shownValue(value)];
    }),
  );
}

function shownValue(value: Json | undefined): Json | undefined {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((it: Json) => shownValue(it) as Json);
  return Object.fromEntries(Object.entries(value).map(([name, it]) => [snakeCase(name), shownValue(it)]));
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A payload that was tampered with may be anything; its hash tells. */
export function parseObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}
