/** docs/reference/events.md: what the log holds, type by type. */
import { z } from "zod";
import { EVENT_TYPES, retentionOf } from "../src/domain/event.ts";
import type { EventType } from "../src/domain/event.ts";
import { ApprovalRequest } from "../src/protocol/approvals.ts";
import { AnyObject, Id } from "../src/protocol/common.ts";
import { Token } from "../src/protocol/credentials.ts";
import { Host } from "../src/protocol/hosts.ts";
import { AskedPrompt } from "../src/protocol/prompts.ts";
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
  stderr: z.object({
    cursor: z
      .int()
      .meta({ description: "Of a command without a terminal: from here in the session's output it is errors" }),
    length: z.int().meta({ description: "How many bytes" }),
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
    event: z.string().meta({ description: "What happened to the terminal: `end_session`, `respawned`, `survivors` …" }),
    step: z.string().optional().meta({ description: "Of ending a run" }),
    pid: z.int().optional().meta({ description: "Of the new shell" }),
    survivors: z
      .array(z.object({ pid: z.int(), program: z.string(), reason: z.string() }))
      .optional()
      .meta({ description: "What could not be ended" }),
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
    edit: true,
    result: true,
  }),
  approval_decision: z.object({
    requestId: Id,
    status: ApprovalRequest.shape.status.exclude(["pending"]),
    approved: z.boolean().meta({ description: "True with `approved` alone" }),
    resolvedBy: z.string().meta({ description: "Who decided; `system` where nobody did" }),
    reason: z.string().optional(),
    edit: z
      .object({ command: z.string(), contextHash: z.string() })
      .optional()
      .meta({ description: "What was approved instead, redacted, and its hash" }),
    result: ApprovalRequest.shape.result,
  }),
  approval_consumed: z.object({
    requestId: Id,
    outcome: z
      .enum(["taken", "run", "not_run", "unknown"])
      .meta({ description: "`taken` before it is done; then what came of it" }),
    blockId: Id.optional().meta({ description: "With `taken`: the block that it will be" }),
    runId: Id.optional(),
    seq: z.int().optional(),
    cursor: z.int().optional(),
    position: z.int().optional(),
    beganAt: z.int().optional(),
    code: z.string().optional().meta({ description: "Why it was not run" }),
    changed: z.array(z.string()).optional().meta({ description: "With `approval_stale`: what was no longer the same" }),
  }),
  approval_violated: z.object({
    blockId: Id,
    changed: z
      .array(z.object({ what: z.string(), path: z.string() }))
      .meta({ description: "What was touched while the block ran" }),
  }),
  prompt_request: z.object({
    promptId: z.string(),
    nonce: AskedPrompt.shape.nonce,
    class: AskedPrompt.shape.class.meta({ description: "As the deterministic classifier has it" }),
    shownAs: AskedPrompt.shape.class.meta({ description: "Another one only where ML had a word" }),
    ...AskedPrompt.pick({
      confidence: true,
      question: true,
      choices: true,
      default: true,
      accepts: true,
      entry: true,
      multiple: true,
      kind: true,
      program: true,
      warning: true,
      source: true,
      disagreement: true,
      escalate: true,
    }).shape,
    typing: z.enum(["by_class", "literal", "none"]),
    expiresAt: AskedPrompt.shape.expires_at,
  }),
  prompt_decision: z.object({
    promptId: z.string(),
    status: AskedPrompt.shape.status.optional().meta({
      description: "`answered` is recorded before anything is typed; `pending`: nothing was typed after all",
    }),
    by: z.string().optional().meta({ description: "With `answered`: who" }),
    outcome: AskedPrompt.shape.outcome.meta({ description: "Alone: what came of the answer" }),
    feedback: AskedPrompt.shape.feedback.optional(),
  }),
  plan: z.object({
    planId: Id,
    title: z.string().optional().meta({ description: "With `steps`, when it was found" }),
    steps: z.array(z.string()).optional(),
    decision: z.enum(["execute", "modify", "cancel"]).optional(),
    by: z.string().optional().meta({ description: "With `decision`: who" }),
  }),
  chat: z.object({
    kind: z.enum(["feedback", "notice"]),
    promptId: z.string().optional(),
    text: z.string(),
    channel: z.string().optional().meta({ description: "With `threadId`: for this thread alone" }),
    threadId: z.string().optional(),
  }),
  ...CONTROL_PAYLOADS,
  conversation: z.object({
    type: z.enum([
      "conversation.bound",
      "conversation.unbound",
      "conversation.touched",
      "conversation.expecting",
      "conversation.queued",
      "conversation.chatted",
      "conversation.delivered",
      "conversation.dropped",
      "conversation.ended",
    ]),
    channel: z.string().optional(),
    threadId: z.string().optional(),
    sessionId: Id.optional(),
    at: z.number().optional().meta({ description: "Epoch milliseconds" }),
    reason: z.enum(["moved", "ended", "expired", "left"]).optional().meta({ description: "Why it was unbound" }),
    dropped: z.int().optional().meta({ description: "Messages that waited" }),
    count: z.int().optional().meta({ description: "Of `conversation.dropped`: messages that waited" }),
    text: z
      .string()
      .optional()
      .meta({ description: "Of `conversation.queued`: what waits. Nothing else that is said is kept" }),
    by: z.string().optional().meta({ description: "Whose input it will be, or is" }),
    asChat: z.boolean().optional().meta({ description: "Of `conversation.queued`: not an answer, whatever is asked" }),
    fromQueue: z.boolean().optional().meta({ description: "Of `conversation.chatted`: always true" }),
  }),
  channel: z.object({
    change: z.enum(["added", "removed", "paired", "person_removed"]),
    channel: z.string(),
    bot: z.string().optional().meta({ description: "With `added`" }),
    personId: z.string().optional().meta({ description: "The platform's id of whom it is about" }),
    name: z.string().optional().meta({ description: "With `paired`: their name" }),
  }),
  host: Host.pick({ hostId: true, name: true, os: true, arch: true, shells: true, version: true, guard: true }).extend({
    change: z.enum(["enrolled", "removed"]),
    tokenId: Id.optional().meta({ description: "With `enrolled`, as all that follows the name" }),
  }),
  host_link: z.object({
    hostId: z.string(),
    online: z.boolean().meta({ description: "Of a host that comes and goes, at most one in five seconds" }),
  }),
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
