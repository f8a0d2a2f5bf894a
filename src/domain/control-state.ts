/** Who has a session's stick, and under what terms. Rules in docs/spec/control.md. */
import type { Actor } from "./actor.ts";

export type ControlMode = "USER" | "AGENT";
export const INTENTS = ["WAIT", "SAFE_INTERRUPT", "STOP_NOW"] as const;
export type Intent = (typeof INTENTS)[number];
export const AGENT_STATUSES = ["IDLE", "RUNNING", "PAUSED", "STOPPING", "STOPPED"] as const;
export type AgentStatus = (typeof AGENT_STATUSES)[number];
export const SAFE_POINT_ACTIONS = ["CONTINUE", "PAUSE", "STOP"] as const;
export type SafePointAction = (typeof SAFE_POINT_ACTIONS)[number];

/** Why somebody may not act, or not change control. */
export type ControlRefusal =
  | "control_refused"
  | "lease_expired"
  | "stale_epoch"
  | "stopped"
  | "paused"
  | "invalid_transition";

export const HANDOFF_REASONS = [
  "granted",
  "taken",
  "user_input_override",
  "stop_now",
  "safe_interrupt",
  "released",
  "lease_expired",
  "viewer_attached",
  "restart",
] as const;
export type HandoffReason = (typeof HANDOFF_REASONS)[number];

export type ControlState = {
  /** Grows by one with each change of the holder, and with nothing else. */
  readonly epoch: number;
  readonly mode: ControlMode;
  /** `AGENT` without a holder: granted to the first agent that acts. */
  readonly holder: Actor | null;
  /** Given by a person. An agent without one has acquired control by itself. */
  readonly lease: Lease | null;
  readonly intent: Intent;
  readonly agentStatus: AgentStatus;
  /** A viewer with input is there, or the session was flagged. */
  readonly attended: boolean;
  /** A person took, granted or stopped: agents get control by a grant or after a release only. */
  readonly held: boolean;
  readonly request: { readonly agentId: string; readonly reason: string; readonly at: number } | null;
  readonly note: string | null;
  /** Why the holder last changed. */
  readonly reason: HandoffReason | null;
  /** Who asked for the pause: control is theirs when it is reached. */
  readonly interruptedBy: Actor | null;
};

/** Times are epoch milliseconds for people; whether it is live is the gate's clock to say. */
export type Lease = {
  /** Since it was last renewed. */
  readonly seconds: number;
  /** By the person: what a renewal is for that asks for nothing else. */
  readonly granted: number;
  readonly endsAt: number;
  readonly by: string;
};

export function initialControl(attended: boolean): ControlState {
  return {
    epoch: 1,
    mode: "USER",
    holder: null,
    lease: null,
    intent: "WAIT",
    agentStatus: "IDLE",
    attended,
    held: false,
    request: null,
    note: null,
    reason: null,
    interruptedBy: null,
  };
}

/** In an interactive session an agent has control only because a person gave it. */
export function isInteractive(state: ControlState): boolean {
  return state.attended || state.held;
}
