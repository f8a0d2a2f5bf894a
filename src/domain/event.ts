/**
 * What happened, as it is kept. One log holds every event under one growing `sequence`; a reader computes
 * nothing from gaps in it. Rules in docs/spec/log.md.
 */
import type { Actor } from "./actor.ts";

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };
export type JsonObject = { readonly [key: string]: Json | undefined };

/** The stream of things that belong to no session: tokens, approvals without a session. */
export const HUB_STREAM = "00000000-0000-0000-0000-000000000000";
/** The stream of workspaces and hosts, which retention never shortens. */
export const WORKSPACE_STREAM = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/**
 * How long a type is kept. `activity` is bulk and goes first; `audit` has limits of its own, so that a flood of
 * output never removes a decision; `housekeeping` is audit that only operators see.
 */
export type RetentionClass = "activity" | "audit" | "housekeeping";

const RETENTION = {
  stdout: "activity",
  stderr: "activity",
  prompt: "activity",
  screenshot: "activity",
  dom_snapshot: "activity",
  file_view: "activity",
  log_line: "activity",
  agent_block_begin: "activity",
  agent_block_delta: "activity",
  agent_block_end: "activity",
  quiet: "activity",
  redacted: "activity",
  keyframe: "activity",
  input: "activity",
  resize: "activity",
  plan: "activity",
  prompt_request: "activity",
  prompt_decision: "activity",
  chat: "activity",
  host_link: "activity",
  status: "audit",
  control_handoff: "audit",
  approval_request: "audit",
  approval_decision: "audit",
  approval_consumed: "audit",
  approval_violated: "audit",
  intent: "audit",
  safe_point: "audit",
  receipt: "audit",
  workspace: "housekeeping",
  token: "housekeeping",
  conversation: "housekeeping",
  channel: "housekeeping",
  host: "housekeeping",
} as const satisfies Record<string, RetentionClass>;

export type EventType = keyof typeof RETENTION;

export const EVENT_TYPES = Object.keys(RETENTION) as readonly EventType[];

/** The seed's first vocabulary, understood wherever a type is named; what is answered is the executable one. */
export const OLDER_EVENT_NAMES = {
  terminal_stdout: "stdout",
  terminal_stderr: "stderr",
  terminal_exit: "status",
  file_snapshot: "file_view",
  file_diff: "file_view",
} as const satisfies Record<string, EventType>;

export function retentionOf(type: EventType): RetentionClass {
  return RETENTION[type];
}

export type NewEvent = {
  readonly type: EventType;
  readonly payload: JsonObject;
  readonly source: Actor;
  /** The gate's order number, for events of a live session. */
  readonly position?: number;
  /** Byte offset in the session's output. */
  readonly cursor?: number;
};

export type StoredEvent = NewEvent & {
  readonly sequence: number;
  readonly sessionId: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly timestamp: string;
};
