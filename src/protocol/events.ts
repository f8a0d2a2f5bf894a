/** The log on the wire (seed 004). */
import { z } from "zod";
import { EVENT_TYPES, OLDER_EVENT_NAMES } from "../domain/event.ts";
import { AnyObject, enumWithOlder, Id, Limit, Sequence, Timestamp } from "./common.ts";
import { defineOperation } from "./operation.ts";
import { WorkspaceSession } from "./sessions.ts";

export const WorkspaceEventType = z.enum(EVENT_TYPES as readonly [(typeof EVENT_TYPES)[number]]);

export const WorkspaceEvent = z.object({
  sequence: Sequence,
  sessionId: Id,
  type: WorkspaceEventType,
  timestamp: Timestamp,
  payload: AnyObject,
  source: z.object({ kind: z.enum(["person", "agent", "host", "system"]), id: z.string() }),
  position: z.int().optional(),
  cursor: z.int().optional(),
});
export type WorkspaceEvent = z.infer<typeof WorkspaceEvent>;

export const WorkspaceSnapshot = z.object({ sessions: z.array(WorkspaceSession), eventCursor: Sequence });
export type WorkspaceSnapshot = z.infer<typeof WorkspaceSnapshot>;

/** In a URL a comma separates them; in JSON it is a list. */
export const EventTypes = z.array(enumWithOlder(EVENT_TYPES, OLDER_EVENT_NAMES)).min(1).max(50);

/** The longest a read waits for a new event; below the 60 s after which MCP clients give up. */
export const EVENT_WAIT_MAX_MS = 45_000;

export const eventOperations = {
  "event.list": defineOperation({
    name: "event.list",
    summary: "Read events after a place in the log, oldest first; with `waitMs`, wait for the first one.",
    method: "GET",
    path: "/events",
    effect: "read",
    input: z.object({
      after: Sequence.optional().meta({ description: "Events with a greater sequence; absent: the oldest kept" }),
      limit: Limit,
      sessionId: Id.optional(),
      types: EventTypes.optional(),
      waitMs: z.int().min(0).max(EVENT_WAIT_MAX_MS).default(0),
    }),
    output: z.array(WorkspaceEvent),
    roles: ["operator", "viewer", "agent"],
    errors: ["cursor_expired"],
    budgetMs: EVENT_WAIT_MAX_MS + 10_000,
    tool: true,
  }),
  "event.stream": defineOperation({
    name: "event.stream",
    summary: "Follow the log as server-sent events; `Last-Event-ID` resumes, a `resync` event says what was lost.",
    kind: "stream",
    method: "GET",
    path: "/events/stream",
    effect: "read",
    input: z.object({
      after: Sequence.optional().meta({ description: "Events with a greater sequence; absent: the oldest kept" }),
      sessionId: Id.optional(),
      types: EventTypes.optional(),
    }),
    output: WorkspaceEvent,
    roles: ["operator", "viewer", "agent"],
    budgetMs: Number.MAX_SAFE_INTEGER,
  }),
  "snapshot.get": defineOperation({
    name: "snapshot.get",
    summary: "All sessions, and the place in the log that they reflect.",
    method: "GET",
    path: "/snapshot",
    effect: "read",
    input: z.object({}),
    output: WorkspaceSnapshot,
    roles: ["operator", "viewer", "agent"],
    tool: true,
  }),
} as const;
