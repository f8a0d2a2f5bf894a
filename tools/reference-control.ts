/** What events of control hold: each carries the state after it. */
import { z } from "zod";
import { INTENTS, SAFE_POINT_ACTIONS } from "../src/domain/control-state.ts";
import { Control } from "../src/protocol/control.ts";

const actor = z.object({ kind: z.enum(["person", "agent"]), id: z.string() });
const answered = {
  session_id: true,
  changed: true,
  agents_may_acquire: true,
  containment: true,
  warning: true,
} as const;
const state = Control.omit(answered).extend({
  attended: z.boolean().meta({ description: "Somebody who can type is there, or it was flagged" }),
  granted_seconds: z
    .number()
    .nullable()
    .meta({ description: "What was granted; `lease_seconds` is what the last renewal made of it" }),
  held: z.boolean().meta({ description: "Agents get control by a grant or after a release only" }),
  interrupted_by: actor.nullable(),
}).shape;
const stoppedProcess = z.object({ pid: z.int(), program: z.string() });

export const CONTROL_PAYLOADS = {
  control_handoff: z
    .object(state)
    .partial()
    .extend({
      change: z
        .enum(["holder", "bound", "renewed", "requested", "declined", "attended", "left", "decided"])
        .meta({ description: "`decided`: a person's grant, before the gate has it; it carries no state" }),
      automatic: z.literal(true).optional().meta({ description: "Acquired where nobody attends" }),
      agent_id: z.string().nullable().optional(),
      expected_epoch: z.int().optional(),
      request_reason: z.string().optional(),
      note: z.string().optional(),
    }),
  intent: z.object({
    intent: z.enum(INTENTS).meta({ description: "What was asked; `user_intent` is what stands" }),
    overdue: z.literal(true).optional().meta({ description: "No safe point came" }),
    offer: z.literal("STOP_NOW").optional(),
    cause: z.enum(["viewer_attached", "approval_violated"]).optional(),
    ...state,
  }),
  safe_point: z.object({ step: z.string(), sequence: z.int(), action: z.enum(SAFE_POINT_ACTIONS), ...state }),
  receipt: z.object({
    dropped_inputs: z.int(),
    dropped_bytes: z.int(),
    killed: z.array(stoppedProcess).meta({ description: "At most 100 of them" }),
    killed_count: z.int(),
    respawned: z.boolean().meta({ description: "Another shell took the place of the first" }),
    survivors: z.array(stoppedProcess.extend({ reason: z.string() })),
    kill_scope: z.enum(["agent", "all"]),
    containment: z.enum(["pid_namespace", "subreaper", "best_effort"]),
    stop_epoch: z
      .int()
      .optional()
      .meta({ description: "The epoch that the stop began; `epoch` is the one when this was told" }),
    ...state,
  }),
};
