/**
 * What the hub sends, parsed. A newer hub may know more than this client: frames of an unknown type are passed
 * over and events of an unknown type are delivered as they came, so that nobody misses a place in the log.
 */
import { WorkspaceEvent } from "../protocol/events.ts";
import { ServerFrame } from "../protocol/stream.ts";
import { Unreadable } from "./unreadable.ts";

const EventOfAnyType = WorkspaceEvent.omit({ type: true, sessionId: true }).loose();
const KNOWN_FRAMES = new Set<unknown>(ServerFrame.options.map((option) => option.shape.type.value));

export function eventFrom(json: string): WorkspaceEvent {
  return toEvent(parseJson(json));
}

/** The place from which the log can still be read. */
export function resyncFrom(json: string): number {
  const after: unknown = Reflect.get(toObject(parseJson(json)), "after");
  if (typeof after !== "number" || !Number.isSafeInteger(after) || after < 0) throw unreadable(after);
  return after;
}

/** Undefined for a frame that this version does not know. */
export function frameFrom(json: string): ServerFrame | undefined {
  const frame: { type?: unknown; event?: unknown } = toObject(parseJson(json));
  if (frame.type === "event") return { type: "event", event: toEvent(frame.event) };
  return KNOWN_FRAMES.has(frame.type) ? must(ServerFrame, frame) : undefined;
}

function toEvent(value: unknown): WorkspaceEvent {
  const { type, sessionId } = toObject(value) as { type?: unknown; sessionId?: unknown };
  if (typeof type !== "string" || typeof sessionId !== "string") throw unreadable(value);
  must(EventOfAnyType, value);
  return value as WorkspaceEvent;
}

function toObject(value: unknown): object {
  if (typeof value !== "object" || value === null) throw unreadable(value);
  return value;
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch (cause) {
    throw unreadable(cause);
  }
}

type Schema<T> = { safeParse(value: unknown): { success: true; data: T } | { success: false; error: unknown } };

function must<T>(schema: Schema<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw unreadable(parsed.error);
  return parsed.data;
}

function unreadable(cause: unknown): Unreadable {
  return new Unreadable("The hub sent something this client can't read; update the older of the two", { cause });
}
