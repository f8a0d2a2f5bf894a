/** docs/reference/events.md: what the log holds, type by type. */
import { z } from "zod";
import { EVENT_TYPES, retentionOf } from "../src/domain/event.ts";
import type { EventType } from "../src/domain/event.ts";
import { ApprovalRequest } from "../src/protocol/approvals.ts";
import { Id } from "../src/protocol/common.ts";
import { Token } from "../src/protocol/credentials.ts";
import { WorkspaceSession, WorkspaceStatus } from "../src/protocol/sessions.ts";
import { Workspace } from "../src/protocol/workspaces.ts";
import { anchor, fieldTable, MADE, page, schemaOf, table } from "./reference-page.ts";

/** A type without one is not emitted yet. A test holds them to what a hub records. */
export const PAYLOADS: Partial<Record<EventType, z.ZodObject>> = {
  status: z.object({
    status: WorkspaceStatus,
    previous: WorkspaceStatus.optional().meta({ description: "Absent with `created`" }),
    reason: z.string().optional().meta({ description: "Why it was closed" }),
    session: WorkspaceSession.omit({
      status: true,
      createdAt: true,
      updatedAt: true,
      controllerId: true,
      reason: true,
    })
      .optional()
      .meta({ description: "Only with `created`: what the session is from then on" }),
  }),
  stdout: z.object({
    cursor: z.int().meta({ description: "Place of the first byte in the session's output" }),
    length: z.int().meta({ description: "How many bytes" }),
    text: z.string().optional().meta({ description: "The bytes as UTF-8, where there are at most 4096" }),
  }),
  input: z.object({ bytes: z.int().meta({ description: "How many; not which" }) }),
  resize: z.object({ cols: z.int(), rows: z.int() }),
  approval_request: ApprovalRequest.omit({
    sessionId: true,
    requestedAt: true,
    status: true,
    approved: true,
    reason: true,
    resolvedBy: true,
    resolvedAt: true,
  }),
  approval_decision: z.object({
    requestId: Id,
    status: ApprovalRequest.shape.status.exclude(["pending"]),
    approved: z.boolean().meta({ description: "True with `approved` alone" }),
    resolvedBy: z.string().meta({ description: "Who decided; `system` where nobody did" }),
    reason: z.string().optional(),
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
