/** Threads of chats and the sessions that they talk to (seed 003). */
import { z } from "zod";
import { AnyId, Id, Name } from "./common.ts";
import { defineOperation } from "./operation.ts";

export const BoundThread = z.object({
  channel: z.string(),
  thread_id: z.string(),
  session_id: Id,
  state: z.enum(["IDLE", "RUNNING", "STREAMING", "AWAITING_INPUT", "STOPPED"]),
});
export type BoundThread = z.infer<typeof BoundThread>;

const thread = { channel: Name, thread_id: Name };

export const Plan = z.object({
  plan_id: Id,
  session_id: Id,
  title: z.string(),
  steps: z.array(z.string()),
  decision: z.enum(["execute", "modify", "cancel"]),
  notice: z.string().meta({ description: "What people are told" }),
});

export const conversationOperations = {
  "plan.resolve": defineOperation({
    name: "plan.resolve",
    summary: "Decide about a plan that an agent has printed. Only `cancel` types something: a line, as you.",
    method: "POST",
    path: "/plans/{plan_id}/resolve",
    effect: "write",
    input: z.object({ plan_id: AnyId, decision: z.enum(["execute", "modify", "cancel"]) }),
    output: Plan,
    roles: ["operator"],
    errors: ["not_found", "invalid_transition", "approval_decided", "shell_idle", "host_offline", "unknown_outcome"],
  }),
  "conversation.bind": defineOperation({
    name: "conversation.bind",
    summary: "Bind a thread of a chat to a session, anew or again; for 4 hours after its last message.",
    method: "POST",
    path: "/conversations/bind",
    effect: "write",
    input: z.object({ ...thread, session_id: Id }),
    output: BoundThread,
    roles: ["operator"],
    errors: ["not_found", "invalid_transition"],
  }),
  "conversation.unbind": defineOperation({
    name: "conversation.unbind",
    summary: "Unbind all threads of a session.",
    method: "POST",
    path: "/conversations/unbind",
    effect: "write",
    input: z.object({ session_id: Id }),
    output: z.object({ ok: z.literal(true), unbound: z.int() }),
    roles: ["operator"],
  }),
  "conversation.resolve": defineOperation({
    name: "conversation.resolve",
    summary: "Which session a thread talks to, and how it stands.",
    method: "GET",
    path: "/conversations/resolve",
    effect: "read",
    input: z.object(thread),
    output: BoundThread,
    roles: ["operator"],
    errors: ["not_found"],
  }),
} as const;
