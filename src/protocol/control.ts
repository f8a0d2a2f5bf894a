/** Who drives (seed 000): snake_case fields, UPPER enums. What was open there is settled in docs/spec/control.md. */
import { z } from "zod";
import { CHANGE_KINDS } from "../domain/shell-state/shell-state.ts";
import { AGENT_STATUSES, HANDOFF_REASONS, INTENTS, SAFE_POINT_ACTIONS } from "../domain/control-state.ts";
import { AnyId, Id, Timestamp } from "./common.ts";
import { defineOperation } from "./operation.ts";
import { WAIT_BUDGET_MS } from "./pty-shapes.ts";
import { Containment } from "./sessions.ts";

const actor = z.object({ kind: z.enum(["person", "agent"]), id: z.string() });

export const Control = z.object({
  session_id: z.string(),
  interactive: z.boolean(),
  control_mode: z.enum(["USER", "AGENT"]),
  lease_expiry: Timestamp.nullable(),
  user_intent: z.enum(INTENTS),
  agent_status: z.enum(AGENT_STATUSES),
  epoch: z.int().meta({ description: "Grows with each change of the holder" }),
  holder: actor.nullable().meta({ description: "Null with AGENT: the first agent that acts" }),
  reason: z.enum(HANDOFF_REASONS).nullable().meta({ description: "Why the holder last changed" }),
  lease_seconds: z.number().nullable(),
  granted_by: z.string().nullable(),
  requested_by: z.object({ agent_id: z.string(), reason: z.string(), requested_at: Timestamp }).nullable(),
  handback_note: z.string().nullable(),
  agents_may_acquire: z
    .boolean()
    .meta({ description: "Whether an agent gets control by acting, where no person attends or holds it" }),
  containment: Containment,
  warning: z.string().optional().meta({ description: "With a grant of a session that isn't guarded: what that means" }),
  changed: z
    .object({
      from_cursor: z.int(),
      to_cursor: z.int(),
      from_position: z.int(),
      blocks: z.array(
        z.object({ block_id: z.string(), seq: z.int(), command: z.string(), exit_code: z.int().optional() }),
      ),
    })
    .optional()
    .meta({ description: "For the agent that has control again: what happened since it lost it" }),
});
export type Control = z.infer<typeof Control>;

/**
 * `starting`, `half_line`, `busy`, `ended`, `agent_drives`: it can't be asked now. `replaced`, `traced`, `not_integrated`,
 * `start_unknown`, `no_report`: nothing that it says would count, or it says nothing. With the others `changes` holds what was
 * found, which may not be all.
 */
export const UNTRUSTED_REASONS = [
  "starting",
  "half_line",
  "busy",
  "ended",
  "agent_drives",
  "replaced",
  "traced",
  "not_integrated",
  "start_unknown",
  "no_report",
  "incomplete",
  "debug_trap",
  "overridden",
  "functions_unseen",
] as const;
export type UntrustedReason = (typeof UNTRUSTED_REASONS)[number];

/** For people. */
export const UNTRUSTED_WORDS: Readonly<Record<UntrustedReason, string>> = {
  starting: "the shell has not shown its prompt yet",
  half_line: "something is typed at its prompt and not entered",
  busy: "it is busy",
  ended: "it has ended",
  agent_drives: "an agent drives; take control first",
  replaced: "another program is in its place",
  traced: "a debugger holds it",
  not_integrated: "it doesn't tell where its prompts are",
  start_unknown: "how it started is not known",
  no_report: "it didn't report",
  incomplete: "its report breaks off, for something stands in the way",
  debug_trap: "a DEBUG trap runs with each step of the report",
  overridden: "what the report is made by was replaced",
  functions_unseen: "this kind of shell can't list its functions",
};

export const ShellChanges = z.object({
  trusted: z.boolean().meta({ description: "False: `reason` says why; an empty list then means nothing" }),
  reason: z.enum(UNTRUSTED_REASONS).optional(),
  since: Timestamp.meta({ description: "The shell's first prompt" }),
  changes: z.array(
    z.object({
      kind: z.enum(CHANGE_KINDS),
      name: z.string(),
      before: z.string().optional().meta({ description: "Absent: it wasn't there" }),
      after: z.string().optional().meta({ description: "Absent: it is gone" }),
    }),
  ),
  omitted: z.int().optional().meta({ description: "How many more there were" }),
});
export type ShellChanges = z.infer<typeof ShellChanges>;

const bySession = z.object({ sessionId: AnyId });
const lease_seconds = z.number().positive().max(3600).meta({ description: "More than 0, at most 3600" });
const note = z.string().max(4000).optional().meta({ description: "What the agent should know" });
const agent_id = z.string().min(1).max(128).optional();

const personal = { method: "POST", effect: "write", output: Control, roles: ["operator"] } as const;
const agentic = { method: "POST", effect: "write", output: Control, roles: ["agent"], tool: true } as const;
const usual = ["not_found", "invalid_transition", "host_offline", "unknown_outcome"] as const;

export const controlOperations = {
  "control.get": defineOperation({
    name: "control.get",
    summary: "Who drives a session, under what terms, and what is asked.",
    method: "GET",
    path: "/sessions/{sessionId}/control",
    effect: "read",
    input: bySession,
    output: Control,
    roles: ["operator", "viewer", "agent"],
    errors: ["not_found"],
    tool: true,
  }),
  "control.user_intent": defineOperation({
    ...personal,
    name: "control.user_intent",
    summary:
      "Let the agent go on (WAIT), have it pause at its next safe point (SAFE_INTERRUPT), or stop it and everything it started at once (STOP_NOW). The receipt of a stop follows as an event.",
    path: "/sessions/{sessionId}/user_intent",
    input: bySession.extend({
      intent: z.enum(INTENTS),
      scope: z
        .enum(["agent", "all"])
        .default("agent")
        .meta({ description: "With STOP_NOW: kill what the agent started, or everything" }),
    }),
    errors: usual,
  }),
  "control.grant": defineOperation({
    ...personal,
    name: "control.grant",
    summary: "Give an agent control for a while: the one named, else the one that asked, else the session's own.",
    path: "/sessions/{sessionId}/control/grant",
    input: bySession.extend({
      lease_seconds,
      agent_id,
      note,
      attend: z
        .boolean()
        .default(false)
        .meta({ description: "Make the session interactive by this; without it a grant needs one that is" }),
    }),
    errors: [...usual, "stale_epoch", "policy_denied"],
  }),
  "control.renew": defineOperation({
    ...agentic,
    name: "control.renew",
    summary: "Extend your lease while it is live.",
    path: "/sessions/{sessionId}/control/renew",
    input: bySession.extend({ epoch: z.int().optional(), lease_seconds: lease_seconds.optional() }),
    errors: [...usual, "stale_epoch", "lease_expired", "control_refused", "stopped", "paused"],
  }),
  "control.take": defineOperation({
    ...personal,
    name: "control.take",
    summary: "Take control. Programs run on; agents are refused until you grant or release.",
    path: "/sessions/{sessionId}/control/take",
    input: bySession.extend({
      fresh: z.boolean().default(false).meta({
        description:
          "Open a new terminal for yourself beside it, in the same directory, with nothing else of the agent's shell",
      }),
    }),
    output: Control.extend({ freshSessionId: Id.optional().meta({ description: "With `fresh`: the new terminal" }) }),
    errors: [...usual, "limit_reached", "kind_unavailable"],
  }),
  "control.changes": defineOperation({
    name: "control.changes",
    summary:
      "What changed in a terminal's shell since it started: functions, aliases, traps, PATH, prompt hooks, options, key bindings, hashed paths, environment.",
    method: "GET",
    path: "/sessions/{sessionId}/control/changes",
    effect: "read",
    input: bySession,
    output: ShellChanges,
    roles: ["operator", "viewer"],
    errors: ["not_found", "kind_unavailable", "host_offline", "unknown_outcome"],
  }),
  "control.release": defineOperation({
    ...personal,
    name: "control.release",
    summary:
      "Hand control back: with a lease to an agent, without one to nobody. An agent gives up what it has. Take a note along.",
    path: "/sessions/{sessionId}/control/release",
    input: bySession.extend({ note, lease_seconds: lease_seconds.optional(), agent_id }),
    roles: ["operator", "agent"],
    errors: [...usual, "stale_epoch", "control_refused", "stopped", "paused", "lease_expired", "policy_denied"],
    tool: true,
  }),
  "control.request": defineOperation({
    ...agentic,
    name: "control.request",
    summary: "Ask for control, with your reason. A person sees it and grants or declines; wait with control_wait.",
    path: "/sessions/{sessionId}/control/request",
    input: bySession.extend({ reason: z.string().min(1).max(2000) }),
    errors: usual,
  }),
  "control.decline": defineOperation({
    ...personal,
    name: "control.decline",
    summary: "Say no to the agent that asks for control.",
    path: "/sessions/{sessionId}/control/decline",
    input: bySession.extend({
      agent_id: agent_id.meta({ description: "Only its request; absent: whoever asks" }),
    }),
    errors: usual,
  }),
  "control.wait": defineOperation({
    ...agentic,
    name: "control.wait",
    summary:
      "Wait until you have control, may take it by acting (`interactive: false`, no holder), or your request is declined. Answers the state; `holder` says whether it is you, `changed` and `handback_note` what happened meanwhile.",
    path: "/sessions/{sessionId}/control/wait",
    effect: "read",
    input: bySession.extend({ timeout_ms: z.int().min(0).max(WAIT_BUDGET_MS).default(30_000) }),
    errors: ["not_found"],
    budgetMs: WAIT_BUDGET_MS + 15_000,
  }),
  "control.safe_point": defineOperation({
    ...agentic,
    name: "control.safe_point",
    summary: "Between two steps: may you go on? CONTINUE, PAUSE or STOP; obey it.",
    path: "/sessions/{sessionId}/agent/safe_point",
    input: bySession.extend({ step: z.string().min(1).max(500), sequence: z.int().min(0) }),
    output: z.object({
      action: z.enum(SAFE_POINT_ACTIONS),
      step: z.string(),
      sequence: z.int(),
      control: Control,
    }),
    errors: usual,
  }),
} as const;
