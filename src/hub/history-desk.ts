/**
 * Looking back at a session: its bytes by range, the screen to begin with, and what happened when. Everything is bounded,
 * however long the session was; what retention took is refused, never skipped. Rules WEB-60..WEB-63 in docs/spec/web.md.
 */
import type { EventType, Json, JsonObject, StoredEvent } from "../domain/event.ts";
import type { Session } from "../domain/session.ts";
import type { Output, ParsedInput } from "../protocol/operations.ts";
import type { TimelineItem } from "../protocol/history.ts";
import type { KeptScreens } from "./kept-screens.ts";
import type { OutputDesk } from "./output-desk.ts";
import { type ByteStore, type Clock, CursorExpired, type EventLog, type Reached } from "./ports.ts";
import type { SessionDesk } from "./session-desk.ts";

export type HistoryDeskParts = {
  readonly log: EventLog;
  readonly bytes: Pick<ByteStore, "times">;
  readonly output: OutputDesk;
  readonly sessions: Pick<SessionDesk, "get" | "size">;
  readonly screens: KeptScreens;
  readonly clock: Clock;
};

/** What stands on a track. */
const SHOWN: readonly EventType[] = [
  "status",
  "resize",
  "agent_block_begin",
  "agent_block_end",
  "control_handoff",
  "intent",
  "safe_point",
  "receipt",
  "prompt_request",
  "prompt_decision",
  "approval_request",
  "approval_decision",
];
const TEXT_MAX = 240;
const LIST_MAX = 8;
const DEPTH_MAX = 4;

export class HistoryDesk {
  readonly #parts: HistoryDeskParts;

  constructor(parts: HistoryDeskParts) {
    this.#parts = parts;
  }

  async output(input: ParsedInput<"session.output">): Promise<Output<"session.output">> {
    const { output, sessions } = this.#parts;
    const { sessionId } = sessions.get(input.sessionId);
    const [end_cursor, oldest_cursor] = await Promise.all([output.size(sessionId), output.oldest(sessionId)]);
    const from_cursor = input.from_cursor ?? oldest_cursor;
    if (from_cursor < oldest_cursor) throw new CursorExpired(oldest_cursor);
    const to = Math.min(end_cursor, from_cursor + input.max_bytes);
    const bytes = await output.all(sessionId, from_cursor, to);
    const data = Buffer.from(bytes).toString("base64");
    return { data, from_cursor, cursor: from_cursor + bytes.length, end_cursor, oldest_cursor };
  }

  async keyframe(input: ParsedInput<"session.keyframe">): Promise<Output<"session.keyframe">> {
    const { output, sessions, screens } = this.#parts;
    const { sessionId } = sessions.get(input.sessionId);
    const [end, oldest] = await Promise.all([output.size(sessionId), output.oldest(sessionId)]);
    const at = Math.min(input.at_cursor ?? end, end);
    if (at < oldest) throw new CursorExpired(oldest);
    const to = Math.max(at, Math.min(input.to_cursor ?? at, end));
    const kept = await screens.before(sessionId, { at, to, oldest });
    if (kept !== undefined) return { ...kept, approximate: false };
    const size = await screens.sizeAt(sessionId, oldest, to);
    const blank = size ?? { ...sessions.size(sessionId), resizes: [] };
    return { cursor: oldest, ...blank, approximate: oldest > 0 };
  }

  async timeline(input: ParsedInput<"session.timeline">): Promise<Output<"session.timeline">> {
    const { log, output, sessions } = this.#parts;
    const session = sessions.get(input.sessionId);
    const { sessionId } = session;
    const { after, limit } = input;
    const began = Date.parse(session.createdAt);
    const [end_cursor, oldest_cursor, activity, page] = await Promise.all([
      output.size(sessionId),
      output.oldest(sessionId),
      this.#activity(sessionId, began, input.points),
      limit === 0 ? [] : log.read({ sessionId, types: SHOWN, after, limit }),
    ]);
    const last = page.at(-1);
    return {
      began_at: began,
      end_ms: Math.max(0, this.#endOf(session) - began),
      live: session.status !== "closed",
      oldest_cursor,
      end_cursor,
      activity,
      items: page.map((event) => itemOf(event, began)),
      // A page may be cut short by its size: only an empty one is the end.
      ...(last === undefined ? {} : { next: last.sequence }),
    };
  }

  async #activity(sessionId: string, began: number, points: number): Promise<[number, number][]> {
    if (points === 0) return [];
    const times = await this.#parts.bytes.times(sessionId);
    return thinned(times, points).map(([at, cursor]) => [Math.max(0, at - began), cursor]);
  }

  #endOf({ status, updatedAt }: Session): number {
    return status === "closed" ? Date.parse(updatedAt) : this.#parts.clock.now();
  }
}

/** So many at most, evenly chosen, the last always among them. */
function thinned(times: readonly Reached[], most: number): readonly Reached[] {
  if (times.length <= most) return times;
  const step = times.length / most;
  return Array.from({ length: most }, (_, index) => times[Math.ceil((index + 1) * step) - 1]!);
}

function itemOf({ sequence, timestamp, cursor, type, source, payload }: StoredEvent, began: number): TimelineItem {
  const at_ms = Math.max(0, Date.parse(timestamp) - began);
  const place = cursor === undefined ? {} : { cursor };
  return { sequence, at_ms, ...place, type, by: { ...source }, payload: short(payload, 0) as JsonObject };
}

/** Enough to tell what it was; whoever wants all of it reads the event. */
function short(value: Json | undefined, depth: number): Json | undefined {
  if (typeof value === "string") return value.length > TEXT_MAX ? `${value.slice(0, TEXT_MAX)}…` : value;
  if (typeof value !== "object" || value === null) return value;
  if (depth >= DEPTH_MAX) return undefined;
  if (Array.isArray(value)) return value.slice(0, LIST_MAX).map((it) => short(it as Json, depth + 1) ?? null);
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, short(it as Json, depth + 1)]));
}
