/** docs/reference/events.md: what the log holds, type by type. */
import { z } from "zod";
import { EVENT_TYPES, retentionOf } from "../src/domain/event.ts";
import type { EventType } from "../src/domain/event.ts";
import { ApprovalRequest } from "../src/protocol/approvals.ts";
import { AnyObject, Id } from "../src/protocol/common.ts";
import { Token } from "../src/protocol/credentials.ts";
import { WorkspaceSession, WorkspaceStatus } from "../src/protocol/sessions.ts";
import { Workspace } from "../src/protocol/workspaces.ts";
import { CONTROL_PAYLOADS } from "./reference-control.ts";
import { anchor, fieldTable, MADE, page, schemaOf, table } from "./reference-page.ts";

/** A type without one is not emitted yet. A test holds them to what a hub records. */
export const PAYLOADS: Partial<Record<EventType, z.ZodObject>> = {
  status: z.object({
    status: WorkspaceStatus,
    previous: WorkspaceStatus.optional().meta({ description: "Absent with `created`" }),
    reason: z.string().optional().meta({ description: "Why it was closed" }),
    detail: z.string().optional().meta({ description: "With `start_failed`: what went wrong" }),
    exitCode: z.int().optional().meta({ description: "Of the session's program" }),
    signal: z.string().optional().meta({ description: "That ended it" }),
    session: WorkspaceSession.omit({
      status: true,
      createdAt: true,
      updatedAt: true,
      controllerId: true,
      reason: true,
      detail: true,
    })
      .optional()
      .meta({ description: "Only with `created`: what the session is from then on" }),
  }),
  stdout: z.object({
    cursor: z.int().meta({ description: "Place of the first byte in the session's output" }),
    length: z.int().meta({ description: "How many bytes" }),
    text: z.string().optional().meta({ description: "The bytes as UTF-8, where there are at most 4096" }),
  }),
  input: z.object({
    bytes: z.int().meta({ description: "How many" }),
    epoch: z.int().optional().meta({ description: "Of control, at the gate" }),
    class: z.enum(["drive", "assist"]).optional(),
    number: z.int().optional().meta({ description: "The gate takes each once" }),
    text: z.string().optional().meta({ description: "Only what is no secret and was echoed" }),
  }),
  prompt: z.object({
    kind: z.enum(["shell", "line", "password", "line_editor", "pager", "editor", "tui", "opaque"]),
    promptId: z.string().meta({ description: "Names this instance: for `if_prompt`" }),
    program: z.string().optional(),
    pid: z.int().optional(),
    confidence: z.enum(["high", "medium", "low"]).optional(),
    evidence: AnyObject.optional().meta({ description: "What the kernel says" }),
    marker: z.string().optional().meta({ description: "With `shell`: `__FWS_PROMPT__ ts= cwd_b64=`, as published" }),
    cwd: z.string().optional(),
    exitCode: z.int().optional(),
    integration: z.enum(["marks", "kernel", "none"]).optional(),
    blockId: Id.optional(),
  }),
  agent_block_begin: z.object({
    blockId: Id,
    seq: z.int(),
    cmd: z.string().meta({ description: "As it was given, redacted" }),
    cwd: z.string().optional(),
    cursor: z.int(),
    interactive: z.boolean(),
    runId: Id.optional().meta({ description: "Of an interactive run: seed 001's `session_id`" }),
    ts: z.int(),
  }),
  agent_block_delta: z.object({ blockId: Id, cursor: z.int(), length: z.int() }),
  agent_block_end: z.object({
    blockId: Id,
    seq: z.int(),
    cursor: z.int(),
    exitCode: z.int().optional(),
    signal: z.string().optional(),
    cwd: z.string().optional(),
    integration: z.enum(["marks", "kernel", "none"]),
    durationMs: z.number(),
    runId: Id.optional(),
    canceled: z.boolean().optional(),
  }),
  log_line: z.object({
    event: z.string().meta({ description: "What happened to the terminal: `end_session`, `respawned` …" }),
    step: z.string().optional().meta({ description: "Of ending a run" }),
    pid: z.int().optional().meta({ description: "Of the new shell" }),
  }),
  quiet: z.object({ ms: z.int().meta({ description: "So long without output" }) }),
  redacted: z.object({ ranges: z.array(z.tuple([z.int(), z.int()])).meta({ description: "Masked bytes: from, to" }) }),
  keyframe: z.object({
    cursor: z.int().meta({ description: "Where in the output it stands" }),
    cols: z.int(),
    rows: z.int(),
    data: z.string().meta({ description: "The screen at this cursor, as a terminal draws it" }),
  }),
  resize: z.object({ cols: z.int(), rows: z.int() }),
  approval_request: ApprovalRequest.omit({
    sessionId: true,
    requestedAt: true,
    status: true,
    approved: true,
    reason: true,
    resolvedBy: true,
    resolvedAt: true,
    result: true,
  }),
  approval_decision: z.object({
    requestId: Id,
    status: ApprovalRequest.shape.status.exclude(["pending"]),
    approved: z.boolean().meta({ description: "True with `approved` alone" }),
    resolvedBy: z.string().meta({ description: "Who decided; `system` where nobody did" }),
    reason: z.string().optional(),
    result: ApprovalRequest.shape.result,
  }),
  ...CONTROL_PAYLOADS,
  workspace: Workspace.omit({ updatedAt: true }),
  token: Token.pick({ tokenId: true, kind: true, role: true, name: true }).extend({
    change: z.enum(["created", "revoked"]),
  }),
};

export function eventsPage(): string {
  return page([
    "# Events",
    MADE,
    "What the log holds. Every event has the fields of [WorkspaceEvent](shapes.md#workspaceevent). How long a type " +
      "is kept depends on its class: `activity` is bulk and goes first; `audit` has limits of its own, so that a flood " +
      "of output never removes a decision; `housekeeping` is audit that only operators see.",
    `Events of the housekeeping types (${housekeeping().join(", ")}) are left out of every read and stream unless an ` +
      "operator names them in `types`; anybody else who names them is refused with `forbidden`.",
    table(
      ["type", "kept as", "payload"],
      EVENT_TYPES.map((type) => [
        `\`${type}\``,
        retentionOf(type),
        PAYLOADS[type] === undefined ? "not emitted yet" : `[fields](#${anchor(type)})`,
      ]),
    ),
    ...EVENT_TYPES.flatMap(payloadSection),
  ]);
}

function housekeeping(): string[] {
  return EVENT_TYPES.filter((type) => retentionOf(type) === "housekeeping").map((type) => `\`${type}\``);
}

function payloadSection(type: EventType): string[] {
  const payload = PAYLOADS[type];
  if (payload === undefined) return [];
  return [`## ${type}`, fieldTable(schemaOf(payload, "output"), { needed: "always" })];
}
