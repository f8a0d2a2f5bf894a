/** Approvals on the wire (seed 004). */
import { z } from "zod";
import { APPROVAL_KINDS, APPROVAL_STATUSES, APPROVAL_TIMEOUT_MAX_MS, RISK_LEVELS } from "../domain/approval.ts";
import { AnyId, AnyObject, Id, Limit, Payload, Timestamp } from "./common.ts";
import { defineOperation } from "./operation.ts";
import { COMMAND_LIMIT, WAIT_BUDGET_MS } from "./pty-shapes.ts";
import { Containment } from "./sessions.ts";

export const ApprovalRequest = z.object({
  requestId: Id,
  sessionId: Id,
  kind: z.enum(APPROVAL_KINDS),
  payload: AnyObject,
  action: z.string(),
  riskLevel: z.enum(RISK_LEVELS),
  contextHash: z.string(),
  requestedBy: z.string(),
  requestedAt: Timestamp,
  timeoutMs: z.int(),
  expiresAt: Timestamp,
  status: z.enum(APPROVAL_STATUSES),
  rule: z.string(),
  containment: Containment.optional(),
  epoch: z.int().optional().meta({ description: "Of an action: under which control it may run" }),
  approved: z.boolean().optional(),
  reason: z.string().optional(),
  resolvedBy: z.string().optional(),
  resolvedAt: Timestamp.optional(),
  edit: z.object({ command: z.string() }).optional().meta({ description: "What was approved instead" }),
  result: AnyObject.optional().meta({
    description:
      "What follows. Of an action: `outcome` (`run`, `not_run`, `unknown`), with its `blockId`, `cursor` and `position`, or the `code` why not; `violated` if files were swapped while it ran. With the rule `needs_open` the new `sessionId`",
  }),
});
export type ApprovalRequest = z.infer<typeof ApprovalRequest>;

const byRequest = z.object({ requestId: AnyId });

export const approvalOperations = {
  "approval.request": defineOperation({
    name: "approval.request",
    summary: "Ask a person before doing something. The answer is `pending`; the decision comes as an event.",
    method: "POST",
    path: "/approvals",
    status: 201,
    effect: "write",
    input: z.object({
      sessionId: Id.optional(),
      kind: z.enum(APPROVAL_KINDS),
      payload: Payload.meta({ description: "What would be done; shown to the person, so no secrets" }),
      action: z.string().min(1).max(200).optional(),
      timeoutMs: z.int().min(1).max(APPROVAL_TIMEOUT_MAX_MS).optional(),
    }),
    output: ApprovalRequest,
    roles: ["operator", "agent"],
    errors: ["not_found", "invalid_transition", "limit_reached"],
    tool: true,
  }),
  "approval.list": defineOperation({
    name: "approval.list",
    summary: "List approvals, oldest first; of more than `limit`, the newest.",
    method: "GET",
    path: "/approvals",
    effect: "read",
    input: z.object({ status: z.enum(APPROVAL_STATUSES).optional(), sessionId: Id.optional(), limit: Limit }),
    output: z.array(ApprovalRequest),
    roles: ["operator", "viewer", "agent"],
    tool: true,
  }),
  "approval.get": defineOperation({
    name: "approval.get",
    summary: "Read one approval.",
    method: "GET",
    path: "/approvals/{requestId}",
    effect: "read",
    input: byRequest,
    output: ApprovalRequest,
    roles: ["operator", "viewer", "agent"],
    errors: ["not_found"],
    tool: true,
  }),
  "approval.wait": defineOperation({
    name: "approval.wait",
    summary:
      "Wait until an approval is decided and, if it was of a command, until that was given to the shell: then `result` names its block. Answers it as it is when the time is over.",
    method: "POST",
    path: "/approvals/{requestId}/wait",
    effect: "read",
    input: byRequest.extend({ wait_ms: z.int().min(0).max(WAIT_BUDGET_MS).default(WAIT_BUDGET_MS) }),
    output: ApprovalRequest,
    roles: ["operator", "viewer", "agent"],
    errors: ["not_found"],
    budgetMs: WAIT_BUDGET_MS + 15_000,
    tool: true,
  }),
  "approval.resolve": defineOperation({
    name: "approval.resolve",
    summary:
      "Decide an approval. The first decision stands. With the rule `needs_open` the answer comes when the open session is there.",
    method: "POST",
    path: "/approvals/{requestId}/resolve",
    effect: "write",
    input: byRequest
      .extend({
        status: z.enum(["approved", "rejected"]),
        approved: z.boolean().optional(),
        reason: z.string().max(2000).optional(),
        edit: z
          .strictObject({ command: z.string().min(1).max(COMMAND_LIMIT) })
          .optional()
          .meta({ description: "Approve this instead of what was asked for" }),
      })
      .refine((it) => it.edit === undefined || it.status === "approved", {
        message: "only what is approved can be edited",
        path: ["edit"],
      })
      .refine((it) => it.approved === undefined || it.approved === (it.status === "approved"), {
        message: "status and approved contradict each other",
        path: ["approved"],
      }),
    output: ApprovalRequest,
    roles: ["operator"],
    errors: [
      "invalid_request",
      "not_found",
      "approval_decided",
      "approval_expired",
      "approval_stale",
      "policy_denied",
      "kind_unavailable",
      "host_offline",
      "limit_reached",
    ],
  }),
} as const;
