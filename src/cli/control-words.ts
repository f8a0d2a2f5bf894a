/** Who drives and what changed, as a sentence for people. Rule CTL-38 in docs/spec/control.md. */
import type { Output, WorkspaceEvent } from "../client/sidestick.ts";
import { ageOf, timeUntil } from "./age.ts";

export type Control = Output<"control.get">;

/** What a stop did, as its `receipt` event has it. Of one that failed nothing else is known. */
export type Receipt = {
  /** The epoch that the stop made. */
  readonly stop_epoch?: number;
  readonly failed?: string;
  readonly dropped_inputs?: number;
  readonly dropped_bytes?: number;
  readonly killed?: readonly { readonly pid: number; readonly program: string }[];
  readonly killed_count?: number;
  readonly respawned?: boolean;
  readonly survivors?: readonly { readonly pid: number; readonly program: string; readonly reason: string }[];
};

type Driving = Pick<
  Control,
  "control_mode" | "holder" | "granted_by" | "lease_expiry" | "interactive" | "agent_status" | "user_intent"
> &
  // Not in what events tell.
  Partial<Pick<Control, "agents_may_acquire">>;

export function driverWords(driving: Driving): string {
  const { control_mode, holder, granted_by, lease_expiry } = driving;
  if (control_mode === "AGENT") {
    const who = holder === null ? "the first agent that acts" : `agent ${holder.id}`;
    if (lease_expiry === null) return `${who}, by itself: nobody attends`;
    return `${who}, granted by ${granted_by}, ${timeUntil(lease_expiry)} left`;
  }
  if (holder !== null) return holder.id;
  return needsGrant(driving) ? "nobody; an agent needs a grant" : "nobody; the first agent that acts";
}

function needsGrant({ interactive, agents_may_acquire }: Pick<Driving, "interactive" | "agents_may_acquire">): boolean {
  return interactive || agents_may_acquire === false;
}

/** A line for each field that says something. */
export function controlFields(control: Control): Readonly<Record<string, string>> {
  const { requested_by: asked, handback_note: note, user_intent, epoch, reason } = control;
  const isAcquired = reason === "granted" && control.lease_seconds === null;
  return {
    drives: driverWords(control),
    ...(reason === null || isAcquired ? {} : { since: REASONS[reason] }),
    agent: agentWords(control),
    intent: INTENTS[user_intent],
    interactive: interactiveWords(control),
    containment: control.containment,
    epoch: String(epoch),
    ...(asked === null ? {} : { asks: `agent ${asked.agent_id}, ${ageOf(asked.requested_at)} ago: ${asked.reason}` }),
    ...(note === null ? {} : { note }),
  };
}

function agentWords({ agent_status, reason }: Control): string {
  if (agent_status !== "STOPPED" || reason === "stop_now") return STATUSES[agent_status];
  return "has lost control; what it started runs on";
}

const STATUSES: Readonly<Record<Control["agent_status"], string>> = {
  IDLE: "idle",
  RUNNING: "runs a command",
  PAUSED: "paused, until you hand back",
  STOPPING: "is being stopped",
  STOPPED: "stopped, with all that it started",
};

const INTENTS: Readonly<Record<Control["user_intent"], string>> = {
  WAIT: "none (WAIT)",
  SAFE_INTERRUPT: "the agent is to pause (SAFE_INTERRUPT)",
  STOP_NOW: "the agent is stopped, until you grant or release (STOP_NOW)",
};

function interactiveWords(control: Control): string {
  if (control.interactive) return "yes: agents act only when granted";
  return needsGrant(control) ? "no, but the workspace has agents act only when granted" : "no";
}

const REASONS: Readonly<Record<NonNullable<Control["reason"]>, string>> = {
  granted: "a grant",
  taken: "a person took it",
  user_input_override: "a person typed",
  stop_now: "a person stopped the agent",
  safe_interrupt: "the agent paused",
  released: "it was released",
  lease_expired: "the lease was over",
  viewer_attached: "somebody who can type came",
  restart: "the hub was started anew",
};

type Told = Driving & {
  readonly change?: string;
  readonly reason?: Control["reason"];
  readonly automatic?: true;
  readonly lease_seconds?: number;
  readonly handback_note?: string | null;
  readonly request_reason?: string;
  readonly intent?: string;
  readonly overdue?: true;
  readonly step?: string;
  readonly sequence?: number;
  readonly action?: string;
};

/** Undefined for what only prepares a change. */
export function changeWords({ type, payload, source }: WorkspaceEvent): string | undefined {
  const told = payload as unknown as Told;
  const by = source.kind === "agent" ? `agent ${source.id}` : source.id;
  switch (type) {
    case "control_handoff":
      return handoffWords(told, by);
    case "intent":
      if (told.overdue === true) return "no safe point came within 10 s; STOP_NOW stops it";
      return source.kind === "system" ? `${told.intent}, for somebody who can type came` : `${by} says ${told.intent}`;
    case "safe_point":
      return `${by} at step ${told.sequence} (${told.step}): ${told.action}`;
    case "receipt":
      return receiptWords(payload);
    default:
      return undefined;
  }
}

function handoffWords(told: Told, by: string): string | undefined {
  switch (told.change) {
    case "holder":
      return `${holderWords(told, by)}; drives: ${driverWords(told)}`;
    case "bound":
      return `${by} drives under the grant`;
    case "renewed":
      return `${by} renewed its lease, ${told.lease_seconds} s`;
    case "requested":
      return `${by} asks for control: ${told.request_reason}`;
    case "declined":
      return `${by} declined the request`;
    case "attended":
      return "somebody who can type is there";
    case "left":
      return "nobody who can type is there";
    default:
      return undefined;
  }
}

function holderWords({ reason, automatic, handback_note: note, lease_seconds }: Told, by: string): string {
  const noted = note === null || note === undefined ? "" : ` (${note})`;
  switch (reason) {
    case "granted":
      return automatic === true ? `${by} took control, for nobody attends` : `${by} granted ${lease_seconds} s${noted}`;
    case "taken":
      return `${by} took control`;
    case "user_input_override":
      return `${by} typed`;
    case "stop_now":
      return `${by} stopped the agent`;
    case "released":
      return `${by} released control${noted}`;
    case "safe_interrupt":
    case "lease_expired":
    case "viewer_attached":
    case "restart":
      return REASONS[reason];
    case null:
    case undefined:
      return "control changed hands";
  }
}

/** At most so many processes are named. */
const NAMED = 10;

export function receiptWords(receipt: Receipt): string {
  const { killed, survivors = [], respawned, dropped_inputs = 0, dropped_bytes = 0 } = receipt;
  if (killed === undefined) return `what was killed is not known (${receipt.failed ?? "the host didn't say"})`;
  const { killed_count = killed.length } = receipt;
  const named = killed.slice(0, NAMED).map(({ pid, program }) => `${program} (${pid})`);
  const more = killed_count > named.length ? [`${killed_count - named.length} more`] : [];
  const left = survivors.map(({ pid, program, reason }) => `${program} (${pid}, ${reason})`);
  const dropped = dropped_inputs + dropped_bytes === 0 ? "nothing" : `${dropped_inputs} inputs, ${dropped_bytes} bytes`;
  const parts = [
    `killed: ${killed_count === 0 ? "nothing" : [...named, ...more].join(", ")}`,
    `dropped: ${dropped}`,
    ...(respawned === true ? ["the shell was started anew"] : []),
    ...(left.length === 0 ? [] : [`still there: ${left.join(", ")}`]),
  ];
  return parts.join("; ");
}
