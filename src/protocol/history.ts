/** Looking back at a session: its output by range, its screens, what happened when, and all of it as a file. */
import { z } from "zod";
import { AnyId, AnyObject, Sequence } from "./common.ts";
import { WorkspaceEventType } from "./events.ts";
import { defineOperation } from "./operation.ts";
import { cursor, OUTPUT_LIMIT, size } from "./pty-shapes.ts";

const usual = { method: "GET", effect: "read", roles: ["operator", "viewer"] } as const;
const bySession = z.object({ sessionId: AnyId });

/** Pairs of time and place that one answer holds at most. */
const POINTS_MAX = 20_000;

const ms = z.int().meta({ description: "Milliseconds since the session began" });

export const TimelineItem = z.object({
  sequence: Sequence,
  at_ms: ms,
  cursor: cursor.optional(),
  type: WorkspaceEventType,
  by: z.object({ kind: z.string(), id: z.string() }),
  payload: AnyObject.meta({ description: "As in the log, with long texts cut" }),
});
export type TimelineItem = z.infer<typeof TimelineItem>;

export const Timeline = z.object({
  began_at: z.int().meta({ description: "Epoch milliseconds" }),
  end_ms: ms.meta({ description: "Where it ended; of one that lives, now" }),
  live: z.boolean(),
  oldest_cursor: cursor.meta({ description: "The first byte that is still kept" }),
  end_cursor: cursor,
  activity: z
    .array(z.tuple([ms, cursor]))
    .meta({ description: "By then, so much output was there; of many, evenly chosen ones" }),
  items: z.array(TimelineItem),
  next: Sequence.optional().meta({ description: "The next `after`; absent: there is no more" }),
});
export type Timeline = z.infer<typeof Timeline>;

export const Keyframe = z.object({
  cursor: cursor.meta({ description: "The output from here on goes on top of it" }),
  cols: size,
  rows: size,
  data: z.string().optional().meta({ description: "For a terminal that was just reset; absent: it is empty there" }),
  resizes: z.array(z.tuple([cursor, size, size])).meta({
    description: "Where the size changed from there on: cursor, cols, rows",
  }),
  approximate: z.boolean().meta({ description: "What came before is no longer kept, and no screen of then either" }),
});
export type Keyframe = z.infer<typeof Keyframe>;

export const EXPORT_FORMATS = ["asciicast", "jsonl"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const historyOperations = {
  "session.output": defineOperation({
    ...usual,
    name: "session.output",
    summary: "Read a session's output by cursor: the bytes as they are stored, masked where they were, in base64.",
    path: "/sessions/{sessionId}/output",
    input: bySession.extend({
      from_cursor: cursor.optional().meta({ description: "Absent: the oldest that is kept" }),
      max_bytes: z
        .int()
        .min(1)
        .max(OUTPUT_LIMIT)
        .default(256 * 1024),
    }),
    output: z.object({
      data: z.string().meta({ description: "Base64" }),
      from_cursor: cursor,
      cursor: cursor.meta({ description: "Where to go on" }),
      end_cursor: cursor,
      oldest_cursor: cursor,
    }),
    errors: ["not_found", "cursor_expired"],
  }),
  "session.keyframe": defineOperation({
    ...usual,
    name: "session.keyframe",
    summary:
      "The newest screen that was kept at or before a cursor: with the output from there on it makes any later screen.",
    path: "/sessions/{sessionId}/keyframe",
    input: bySession.extend({
      at_cursor: cursor.optional().meta({ description: "Absent: the end" }),
      to_cursor: cursor.optional().meta({ description: "Sizes up to here; absent: up to `at_cursor`" }),
    }),
    output: Keyframe,
    errors: ["not_found", "cursor_expired"],
  }),
  "session.timeline": defineOperation({
    ...usual,
    name: "session.timeline",
    summary: "What happened when: output, commands, sizes, who drove, questions, approvals; a page at a time.",
    path: "/sessions/{sessionId}/timeline",
    input: bySession.extend({
      after: Sequence.optional().meta({ description: "Items with a greater sequence; absent: the oldest kept" }),
      limit: z.int().min(0).max(5000).default(2000),
      points: z.int().min(0).max(POINTS_MAX).default(2000).meta({ description: "At most so many of `activity`" }),
    }),
    output: Timeline,
    errors: ["not_found", "cursor_expired"],
  }),
  "session.export": defineOperation({
    ...usual,
    name: "session.export",
    summary:
      "A session as a file: `asciicast` (v3, with markers for commands and control) or `jsonl` (its events, one a line).",
    kind: "download",
    path: "/sessions/{sessionId}/export",
    input: bySession.extend({ format: z.enum(EXPORT_FORMATS) }),
    output: z.string(),
    errors: ["not_found"],
    budgetMs: Number.MAX_SAFE_INTEGER,
  }),
} as const;
