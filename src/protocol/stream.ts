/**
 * The WebSocket at `/stream`: JSON text frames for control, binary frames for bytes. Rules in docs/spec/streams.md.
 */
import { z } from "zod";
import { Id, Sequence } from "./common.ts";
import { EventTypes, WorkspaceEvent } from "./events.ts";
import { InputPayload, notAtShell } from "./sessions.ts";

export const SUBPROTOCOL = "sidestick.v1";
/** A browser can't set headers on a WebSocket; the ticket rides beside the subprotocol, never in the URL. */
export const TICKET_PROTOCOL_PREFIX = "sidestick.ticket.";
/** A page of another site can't set it without the hub's consent; and what it holds, no page of another port can read. */
export const PAGE_KEY_HEADER = "sidestick-csrf";

export const HEARTBEAT_MS = 15_000;
export const DEAD_AFTER_MS = 45_000;

const cols = z.int().min(1).max(1000);
const rows = z.int().min(1).max(1000);

export const ClientFrame = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("subscribe"),
    after: Sequence.optional(),
    sessionId: Id.optional(),
    types: EventTypes.optional(),
  }),
  z.strictObject({
    type: z.literal("attach"),
    sessionId: Id,
    from: z.union([z.int().min(0), z.literal("screen")]),
    input: z.boolean(),
    cols: cols.optional(),
    rows: rows.optional(),
  }),
  z.strictObject({ type: z.literal("input"), sessionId: Id, ...InputPayload.shape, notAtShell }),
  z.strictObject({ type: z.literal("resize"), sessionId: Id, cols, rows }),
  z.strictObject({ type: z.literal("ack"), sessionId: Id, cursor: z.int().min(0) }),
  z.strictObject({ type: z.literal("detach"), sessionId: Id }),
  z.strictObject({ type: z.literal("ping") }),
]);
export type ClientFrame = z.output<typeof ClientFrame>;
/** As a client may write it. */
export type ClientFrameInput = z.input<typeof ClientFrame>;

export const ServerFrame = z.discriminatedUnion("type", [
  z.object({ type: z.literal("event"), event: WorkspaceEvent }),
  z.object({
    type: z.literal("attached"),
    sessionId: Id,
    cursor: z.int(),
    cols: z.int(),
    rows: z.int(),
    snapshot: z.string().optional(),
  }),
  /** A viewer is behind: with output (`sessionId`, `cursor`) or with events (`after`). It goes on from there. */
  z.object({
    type: z.literal("lagged"),
    sessionId: Id.optional(),
    cursor: z.int().optional(),
    after: Sequence.optional(),
  }),
  z.object({ type: z.literal("resync"), after: Sequence }),
  z.looseObject({ type: z.literal("error"), code: z.string() }),
  z.object({ type: z.literal("pong") }),
]);
export type ServerFrame = z.infer<typeof ServerFrame>;

export const OUTPUT_FRAME = 1;
const HEADER_BYTES = 1 + 16 + 8;

/** kind (1) · session id (16) · cursor (8, big-endian) · bytes */
export function encodeOutput(sessionId: string, cursor: number, bytes: Uint8Array): Uint8Array {
  const frame = new Uint8Array(HEADER_BYTES + bytes.length);
  frame[0] = OUTPUT_FRAME;
  const hex = sessionId.replaceAll("-", "");
  for (let i = 0; i < 16; i += 1) frame[1 + i] = Number.parseInt(hex.slice(i * 2, i * 2 + 2), 16);
  new DataView(frame.buffer).setBigUint64(17, BigInt(cursor));
  frame.set(bytes, HEADER_BYTES);
  return frame;
}

export type OutputFrame = { readonly sessionId: string; readonly cursor: number; readonly bytes: Uint8Array };

/** Undefined for a kind this version does not know. */
export function decodeOutput(frame: Uint8Array): OutputFrame | undefined {
  if (frame.length < HEADER_BYTES || frame[0] !== OUTPUT_FRAME) return undefined;
  const hex = Array.from(frame.subarray(1, 17), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const sessionId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  const cursor = Number(new DataView(frame.buffer, frame.byteOffset).getBigUint64(17));
  return { sessionId, cursor, bytes: frame.subarray(HEADER_BYTES) };
}
