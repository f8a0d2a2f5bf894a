/**
 * Control as it is written down and read again. Events carry the state after them in the words of seed 000, so that
 * whoever folds them, live or years later, has the gate's own state. Folding is total: what makes no sense changes
 * nothing.
 */
import type { Actor } from "./actor.ts";
import {
  AGENT_STATUSES,
  type ControlState,
  HANDOFF_REASONS,
  INTENTS,
  initialControl,
  isInteractive,
  type Lease,
} from "./control-state.ts";
import type { JsonObject, NewEvent } from "./event.ts";
import { instantOf, instantText } from "./instant.ts";

export function describeControl(state: ControlState): JsonObject {
  const { epoch, mode, holder, lease, intent, agentStatus, attended, held, request, note, reason, interruptedBy } =
    state;
  return {
    epoch,
    interactive: isInteractive(state),
    control_mode: mode,
    reason,
    holder: holder === null ? null : { ...holder },
    lease_seconds: lease?.seconds ?? null,
    granted_seconds: lease?.granted ?? null,
    lease_expiry: lease === null ? null : instantText(lease.endsAt),
    granted_by: lease?.by ?? null,
    user_intent: intent,
    agent_status: agentStatus,
    attended,
    held,
    requested_by:
      request === null
        ? null
        : { agent_id: request.agentId, reason: request.reason, requested_at: instantText(request.at) },
    handback_note: note,
    interrupted_by: interruptedBy === null ? null : { ...interruptedBy },
  };
}

/** The types whose events change what is known of control. */
export const CONTROL_EVENTS = [
  "control_handoff",
  "intent",
  "safe_point",
  "receipt",
  "agent_block_begin",
  "agent_block_end",
] as const;

export function applyControl(state: ControlState | undefined, event: NewEvent): ControlState | undefined {
  switch (event.type) {
    case "control_handoff":
    case "intent":
    case "safe_point":
    case "receipt":
      return recorded(event.payload) ?? state;
    case "agent_block_begin":
      return state?.mode === "AGENT" && event.source.kind === "agent" ? { ...state, agentStatus: "RUNNING" } : state;
    case "agent_block_end":
      return state?.agentStatus === "RUNNING" ? { ...state, agentStatus: "IDLE" } : state;
    default:
      return state;
  }
}

/** Undefined when the payload holds no state: a decision that was not yet installed. */
export function recorded(payload: JsonObject): ControlState | undefined {
  const { epoch, control_mode: mode, user_intent: intent, agent_status: agentStatus } = payload;
  if (!Number.isSafeInteger(epoch) || (mode !== "USER" && mode !== "AGENT")) return undefined;
  if (!isOneOf(INTENTS, intent) || !isOneOf(AGENT_STATUSES, agentStatus)) return undefined;
  return {
    ...initialControl(payload["attended"] === true),
    epoch: epoch as number,
    mode,
    intent,
    agentStatus,
    holder: actorOf(payload["holder"]),
    lease: leaseOf(payload),
    held: payload["held"] === true,
    request: requestOf(payload["requested_by"]),
    note: textOf(payload["handback_note"]) ?? null,
    reason: isOneOf(HANDOFF_REASONS, payload["reason"]) ? payload["reason"] : null,
    interruptedBy: actorOf(payload["interrupted_by"]),
  };
}

function isOneOf<T extends string>(values: readonly T[], value: unknown): value is T {
  return (values as readonly unknown[]).includes(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function actorOf(value: unknown): Actor | null {
  const { kind, id } = (value ?? {}) as Partial<Actor>;
  return (kind === "person" || kind === "agent") && typeof id === "string" ? { kind, id } : null;
}

function leaseOf(payload: JsonObject): Lease | null {
  const { lease_seconds: seconds, granted_seconds: granted, lease_expiry: expiry, granted_by: by } = payload;
  const endsAt = instantOf(textOf(expiry) ?? "");
  if (typeof seconds !== "number" || Number.isNaN(endsAt) || typeof by !== "string") return null;
  // Events of before say only how long it is now.
  return { seconds, granted: typeof granted === "number" ? granted : seconds, endsAt, by };
}

function requestOf(value: unknown): ControlState["request"] {
  const { agent_id: agentId, reason, requested_at: at } = (value ?? {}) as Record<string, unknown>;
  if (typeof agentId !== "string" || typeof reason !== "string") return null;
  return { agentId, reason, at: instantOf(textOf(at) ?? "") || 0 };
}
