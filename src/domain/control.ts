/**
 * Who may put input into a session. The gate decides, next to the device; every decision is an event that carries the
 * state after it, so the hub, a page and a replay know the same. Rules in docs/spec/control.md.
 */
import type { Actor } from "./actor.ts";
import { describeControl } from "./control-record.ts";
import {
  type AgentStatus,
  type ControlRefusal,
  type ControlState,
  type HandoffReason,
  type Intent,
  isInteractive,
  type SafePointAction,
} from "./control-state.ts";
import type { JsonObject } from "./event.ts";

export type ControlCommand =
  /** Before anything of this actor reaches the device. */
  | { readonly type: "act"; readonly by: Actor; readonly epoch?: number | undefined }
  | {
      readonly type: "grant";
      readonly by: Actor;
      readonly agentId: string | null;
      readonly leaseSeconds: number;
      readonly note?: string | undefined;
      readonly expectedEpoch?: number | undefined;
      /** Somebody at a bare command line attends the session by granting. */
      readonly attend: boolean;
    }
  | {
      readonly type: "renew";
      readonly by: Actor;
      readonly epoch?: number | undefined;
      readonly leaseSeconds?: number | undefined;
    }
  | { readonly type: "take"; readonly by: Actor }
  | { readonly type: "release"; readonly by: Actor; readonly note?: string | undefined }
  | { readonly type: "request"; readonly by: Actor; readonly reason: string }
  /** `agentId`: of whose request; absent: of whichever stands. */
  | { readonly type: "decline"; readonly by: Actor; readonly agentId?: string | undefined }
  | { readonly type: "intent"; readonly by: Actor; readonly intent: Intent }
  | {
      readonly type: "safe_point";
      readonly by: Actor;
      readonly step: string;
      readonly sequence: number;
    }
  /** The stop is done. */
  | { readonly type: "stopped"; readonly receipt: JsonObject }
  | { readonly type: "expire" }
  /** Something happened after which the agent is not to begin another step. */
  | { readonly type: "interrupt"; readonly cause: string }
  | { readonly type: "attended"; readonly attended: boolean; readonly instead?: "safe_interrupt" | undefined }
  /** A hub has come that knows nothing of what went before, or something else. */
  | { readonly type: "reconnect"; readonly knownEpoch?: number | undefined; readonly mayAcquire?: boolean | undefined };

export type ControlFact = {
  readonly type: "control_handoff" | "intent" | "safe_point" | "receipt";
  readonly payload: JsonObject;
  readonly by: Actor;
};

export type ControlOutcome = {
  readonly state: ControlState;
  /** In this order; each carries the state after it. */
  readonly facts: readonly ControlFact[];
  /** What was asked is refused; what the facts say happened all the same. */
  readonly refusal?: ControlRefusal;
  readonly action?: SafePointAction;
};

/** What the gate knows at this moment. */
export type Moment = {
  /** By the gate's own clock; of no meaning where there is no lease. */
  readonly leaseLive: boolean;
  /** Epoch milliseconds, for people. */
  readonly at: number;
  /** Where nobody attends or holds, agents may take control by themselves. */
  readonly mayAcquire: boolean;
};

const GATE: Actor = { kind: "system", id: "gate" };

export function decideControl(state: ControlState, command: ControlCommand, moment: Moment): ControlOutcome {
  // Whatever is asked, a lease that is over has ended before.
  const expired = command.type === "expire" || leaseIsOver(state, moment) ? expire(state, moment) : unchanged(state);
  const outcome = command.type === "expire" ? expired : decideLive(expired.state, command, moment);
  return { ...outcome, facts: command.type === "expire" ? outcome.facts : [...expired.facts, ...outcome.facts] };
}

function decideLive(
  state: ControlState,
  command: Exclude<ControlCommand, { type: "expire" }>,
  moment: Moment,
): ControlOutcome {
  switch (command.type) {
    case "act":
      return command.by.kind === "agent" ? agentActs(state, command, moment) : personActs(state, command.by);
    case "grant":
      return grant(state, command, moment);
    case "renew":
      return renew(state, command, moment);
    case "take":
      return take(state, command.by);
    case "release":
      return release(state, command);
    case "request":
      return request(state, command, moment);
    case "decline":
      return decline(state, command.by, command.agentId);
    case "intent":
      return setIntent(state, command);
    case "safe_point":
      return safePoint(state, command, moment);
    case "stopped":
      return stopped(state, command.receipt);
    case "interrupt":
      // A stop is more than that, and whoever asked for a pause gets control by it.
      return state.intent === "WAIT" ? safeInterrupt(state, command.cause) : unchanged(state);
    case "attended":
      return attend(state, command);
    case "reconnect":
      return reconnect(state, command.knownEpoch);
  }
}

function leaseIsOver(state: ControlState, { leaseLive }: Moment): boolean {
  return state.mode === "AGENT" && state.lease !== null && !leaseLive;
}

/** Programs run on; the person who granted has control again. */
function expire(state: ControlState, moment: Moment): ControlOutcome {
  if (!leaseIsOver(state, moment)) return unchanged(state);
  return handOver(state, { reason: "lease_expired", by: GATE, to: grantor(state), status: "IDLE" });
}

/** Keys of the person who drives already, or of another person beside them, change nothing. */
function personActs(state: ControlState, by: Actor): ControlOutcome {
  if (by.kind !== "person") return { ...unchanged(state), refusal: "control_refused" };
  if (state.mode === "USER" && state.held && state.holder !== null) return unchanged(state);
  return handOver(state, { reason: "user_input_override", by, to: by, status: statusAfterLoss(state) });
}

function agentActs(
  state: ControlState,
  command: Extract<ControlCommand, { type: "act" }>,
  moment: Moment,
): ControlOutcome {
  if (command.epoch !== undefined && command.epoch !== state.epoch) {
    const isLate = mayDrive(state, command.by, moment);
    return { ...unchanged(state), refusal: isLate ? "stale_epoch" : whyNot(state) };
  }
  const { state: next, facts, action } = arrive(state, command.by, moment);
  if (action === "CONTINUE") return { state: next, facts };
  return { state: next, facts, refusal: action === "PAUSE" ? "paused" : whyNot(next) };
}

/** An agent comes to a boundary between two steps: may it go on? */
function arrive(state: ControlState, by: Actor, moment: Moment): ControlOutcome & { readonly action: SafePointAction } {
  const isPending = state.intent === "SAFE_INTERRUPT" && state.agentStatus !== "PAUSED";
  if (isPending && mayDrive(state, by, moment)) {
    const to = state.interruptedBy;
    return { ...handOver(state, { reason: "safe_interrupt", by: GATE, to, status: "PAUSED" }), action: "PAUSE" };
  }
  if (state.mode === "AGENT" && state.holder?.id === by.id) return { ...unchanged(state), action: "CONTINUE" };
  if (!mayDrive(state, by, moment)) return { ...unchanged(state), action: "STOP" };
  if (state.mode === "AGENT" && state.holder === null) return { ...bind(state, by), action: "CONTINUE" };
  return { ...acquire(state, by), action: "CONTINUE" };
}

/** Has control, was granted it as whoever comes first, or may acquire it. */
function mayDrive(state: ControlState, by: Actor, { mayAcquire }: Moment): boolean {
  if (state.intent === "STOP_NOW" || by.kind !== "agent") return false;
  if (state.mode === "AGENT" && (state.holder === null || state.holder.id === by.id)) return true;
  return mayAcquire && !isInteractive(state) && state.agentStatus !== "PAUSED";
}

/** Why an agent that may not act may not. */
export function whyNot(state: ControlState): ControlRefusal {
  if (state.intent === "STOP_NOW") return "stopped";
  if (state.agentStatus === "PAUSED") return "paused";
  return state.reason === "lease_expired" ? "lease_expired" : "control_refused";
}

function bind(state: ControlState, by: Actor): ControlOutcome {
  return change({ ...state, holder: by }, { type: "control_handoff", by, payload: { change: "bound" } });
}

/** Nobody attends: the agent needs no grant, and its control has no end of its own. */
function acquire(state: ControlState, by: Actor): ControlOutcome {
  const next = { ...state, mode: "AGENT", holder: by, lease: null, agentStatus: "IDLE", request: null } as const;
  return newHolder(next, { reason: "granted", by, automatic: true });
}

function grant(
  state: ControlState,
  command: Extract<ControlCommand, { type: "grant" }>,
  { at }: Moment,
): ControlOutcome {
  const { by, agentId, leaseSeconds: seconds, note = null, expectedEpoch, attend: attends } = command;
  if (by.kind !== "person") return { ...unchanged(state), refusal: "control_refused" };
  if (expectedEpoch !== undefined && expectedEpoch !== state.epoch)
    return { ...unchanged(state), refusal: "stale_epoch" };
  if (!isInteractive(state) && !attends) return { ...unchanged(state), refusal: "invalid_transition" };
  const next: ControlState = {
    ...state,
    mode: "AGENT",
    holder: agentId === null ? null : { kind: "agent", id: agentId },
    lease: { seconds, granted: seconds, endsAt: at + seconds * 1000, by: by.id },
    intent: "WAIT",
    agentStatus: "IDLE",
    held: true,
    request: null,
    note,
    interruptedBy: null,
  };
  return newHolder(next, { reason: "granted", by });
}

function renew(
  state: ControlState,
  command: Extract<ControlCommand, { type: "renew" }>,
  { at }: Moment,
): ControlOutcome {
  const { by, epoch, leaseSeconds } = command;
  if (epoch !== undefined && epoch !== state.epoch) return { ...unchanged(state), refusal: "stale_epoch" };
  if (state.mode !== "AGENT" || state.holder?.kind !== by.kind || state.holder.id !== by.id)
    return { ...unchanged(state), refusal: whyNot(state) };
  if (state.intent !== "WAIT") return { ...unchanged(state), refusal: "paused" };
  if (state.lease === null) return unchanged(state);
  const seconds = leaseSeconds ?? state.lease.granted;
  const lease = { ...state.lease, seconds, endsAt: at + seconds * 1000 };
  return change({ ...state, lease }, { type: "control_handoff", by, payload: { change: "renewed" } });
}

function take(state: ControlState, by: Actor): ControlOutcome {
  if (by.kind !== "person") return { ...unchanged(state), refusal: "control_refused" };
  if (state.mode === "USER" && state.held && state.holder?.id === by.id) return unchanged(state);
  return handOver(state, { reason: "taken", by, to: by, status: statusAfterLoss(state) });
}

/** Nobody holds then; agents may acquire again where nobody attends. */
function release(state: ControlState, command: Extract<ControlCommand, { type: "release" }>): ControlOutcome {
  const { by, note = null } = command;
  const isHolder = state.mode === "AGENT" && state.holder?.kind === by.kind && state.holder.id === by.id;
  if (by.kind !== "person" && !isHolder) return { ...unchanged(state), refusal: whyNot(state) };
  const { held, agentStatus, intent, interruptedBy } = state;
  const byPerson = by.kind === "person";
  const next: ControlState = {
    ...state,
    mode: "USER",
    holder: null,
    lease: null,
    held: byPerson ? false : held,
    intent: byPerson ? "WAIT" : intent,
    interruptedBy: byPerson ? null : interruptedBy,
    agentStatus: byPerson || agentStatus === "RUNNING" ? "IDLE" : agentStatus,
    note: byPerson ? note : state.note,
  };
  return newHolder(next, { reason: "released", by, ...(byPerson || note === null ? {} : { note }) });
}

function request(
  state: ControlState,
  command: Extract<ControlCommand, { type: "request" }>,
  moment: Moment,
): ControlOutcome {
  const { by, reason } = command;
  if (by.kind !== "agent") return { ...unchanged(state), refusal: "control_refused" };
  if (state.mode === "AGENT" && state.holder?.id === by.id) return unchanged(state);
  if (state.intent === "WAIT" && mayDrive(state, by, moment)) {
    return state.mode === "AGENT" && state.holder === null ? bind(state, by) : acquire(state, by);
  }
  const asked = { agentId: by.id, reason, at: moment.at };
  return change(
    { ...state, request: asked },
    { type: "control_handoff", by, payload: { change: "requested", request_reason: reason } },
  );
}

function decline(state: ControlState, by: Actor, meant: string | undefined): ControlOutcome {
  if (by.kind !== "person") return { ...unchanged(state), refusal: "control_refused" };
  const agentId = state.request?.agentId;
  // Another agent may have asked while the person read: nobody has said no to that one.
  if (agentId === undefined || (meant ?? agentId) !== agentId) return unchanged(state);
  return change(
    { ...state, request: null },
    { type: "control_handoff", by, payload: { change: "declined", agent_id: agentId } },
  );
}

function setIntent(state: ControlState, { by, intent }: Extract<ControlCommand, { type: "intent" }>): ControlOutcome {
  if (by.kind !== "person") return { ...unchanged(state), refusal: "control_refused" };
  if (intent === "STOP_NOW") return stop(state, by);
  // It stands until somebody grants or releases.
  if (state.intent === "STOP_NOW") return change(state, { type: "intent", by, payload: { intent } });
  const interruptedBy = intent === "SAFE_INTERRUPT" ? by : null;
  return change({ ...state, intent, interruptedBy }, { type: "intent", by, payload: { intent } });
}

function stop(state: ControlState, by: Actor): ControlOutcome {
  const told = { ...state, intent: "STOP_NOW", interruptedBy: null } as const;
  const intent = change(told, { type: "intent", by, payload: { intent: "STOP_NOW" } });
  const over = handOver(told, { reason: "stop_now", by, to: by, status: "STOPPING" });
  return { state: over.state, facts: [...intent.facts, ...over.facts] };
}

function stopped(state: ControlState, receipt: JsonObject): ControlOutcome {
  // Granted again meanwhile: then the stop is history.
  const agentStatus = state.agentStatus === "STOPPING" ? "STOPPED" : state.agentStatus;
  return change({ ...state, agentStatus }, { type: "receipt", by: GATE, payload: receipt });
}

function safePoint(
  state: ControlState,
  { by, step, sequence }: Extract<ControlCommand, { type: "safe_point" }>,
  moment: Moment,
): ControlOutcome {
  const arrived = arrive(state, by, moment);
  const { action } = arrived;
  const told = change(arrived.state, { type: "safe_point", by, payload: { step, sequence, action } });
  return { state: told.state, facts: [...arrived.facts, ...told.facts], action };
}

/** Watching disturbs nobody. Somebody who can type does: an agent that no person let drive is stopped in its tracks. */
function attend(
  state: ControlState,
  { attended, instead }: Extract<ControlCommand, { type: "attended" }>,
): ControlOutcome {
  if (attended === state.attended) return unchanged(state);
  const next = { ...state, attended };
  const drivesByItself = next.mode === "AGENT" && next.lease === null;
  if (!attended || !drivesByItself) {
    return change(next, { type: "control_handoff", by: GATE, payload: { change: attended ? "attended" : "left" } });
  }
  if (instead === "safe_interrupt") return safeInterrupt(next, "viewer_attached");
  return handOver(next, {
    reason: "viewer_attached",
    by: GATE,
    to: null,
    status: statusAfterLoss(next),
    held: next.held,
  });
}

function safeInterrupt(state: ControlState, cause: string): ControlOutcome {
  const intent = "SAFE_INTERRUPT";
  return change({ ...state, intent }, { type: "intent", by: GATE, payload: { intent, cause } });
}

function reconnect(state: ControlState, knownEpoch: number | undefined): ControlOutcome {
  if (state.mode === "USER" || knownEpoch === state.epoch) return unchanged(state);
  return handOver(state, { reason: "restart", by: GATE, to: grantor(state), status: "IDLE", held: state.held });
}

function grantor({ lease }: ControlState): Actor | null {
  return lease === null ? null : { kind: "person", id: lease.by };
}

/** An agent that never had control was not stopped. */
function statusAfterLoss({ mode, agentStatus }: ControlState): AgentStatus {
  return mode === "AGENT" ? "STOPPED" : agentStatus;
}

type HandOver = {
  readonly reason: HandoffReason;
  readonly by: Actor;
  readonly to: Actor | null;
  readonly status: AgentStatus;
  readonly held?: boolean;
};

/** Away from an agent, to a person or to nobody. */
function handOver(state: ControlState, { reason, by, to, status, held = true }: HandOver): ControlOutcome {
  const next = { ...state, mode: "USER", holder: to, lease: null, agentStatus: status, held } as const;
  return newHolder(next, { reason, by });
}

function newHolder(
  next: ControlState,
  how: {
    readonly reason: HandoffReason;
    readonly by: Actor;
    readonly automatic?: true;
    readonly note?: string;
  },
): ControlOutcome {
  const { by, ...told } = how;
  const payload = { change: "holder", ...told };
  return change({ ...next, epoch: next.epoch + 1, reason: how.reason }, { type: "control_handoff", by, payload });
}

function change(state: ControlState, fact: ControlFact): ControlOutcome {
  return { state, facts: [{ ...fact, payload: { ...fact.payload, ...describeControl(state) } }] };
}

function unchanged(state: ControlState): ControlOutcome {
  return { state, facts: [] };
}
