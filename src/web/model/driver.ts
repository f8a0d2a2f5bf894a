/** Who drives, in words. */
import type { ControlState } from "../../domain/control-state.ts";
import type { Session } from "../../domain/session.ts";
import { shownText } from "../../domain/shown-text.ts";
import type { World } from "./world.ts";

export type Driver = {
  /** `waiting`: an agent may drive that hasn't acted yet. */
  readonly kind: "person" | "agent" | "nobody" | "waiting";
  readonly name: string;
  readonly isMe: boolean;
};

/** By which what was done is mine. A login that only looks has done nothing, whoever else has its name. */
export function myId({ me }: Pick<World, "me">): string | undefined {
  return me?.role === "operator" ? me.id : undefined;
}

export function driverOf(control: ControlState | undefined, me: string | undefined): Driver {
  const { holder = null, mode = "USER" } = control ?? {};
  if (holder === null) {
    return { kind: mode === "AGENT" ? "waiting" : "nobody", name: "", isMe: false };
  }
  const isMe = holder.kind === "person" && holder.id === me;
  return { kind: holder.kind === "agent" ? "agent" : "person", name: isMe ? "you" : shownText(holder.id), isMe };
}

/** They say the same as the colours. */
export const DRIVER_SIGNS = { person: "●", agent: "◆", nobody: "○", waiting: "◇" } as const satisfies Record<
  Driver["kind"],
  string
>;

/** As a sentence. */
export function driverText({ kind, name, isMe }: Driver): string {
  if (isMe) return "You drive";
  if (kind === "waiting") return "The first agent that acts may drive";
  return kind === "nobody" ? "Nobody drives" : `${name} drives`;
}

/** Why the holder last changed, as a half sentence. */
const REASONS: Readonly<Record<NonNullable<ControlState["reason"]>, string>> = {
  granted: "by a grant",
  taken: "control was taken",
  user_input_override: "somebody typed",
  stop_now: "the agent was stopped",
  safe_interrupt: "the agent paused at a safe point",
  released: "control was handed back",
  lease_expired: "the lease ran out",
  viewer_attached: "somebody came to the keyboard",
  restart: "the hub or the host was restarted",
};

/** Why they drive, and what the agent was told when it was given control. */
export function factsOf({ reason, lease, note }: ControlState, { kind, isMe }: Driver): string {
  const isTold = note !== null && kind !== "person";
  return shownText([whyOf(reason, lease, isMe), isTold ? `“${note}”` : ""].filter(Boolean).join(" · "));
}

function whyOf(reason: ControlState["reason"], lease: ControlState["lease"], isMe: boolean): string {
  if (lease !== null) return `granted by ${lease.by}`;
  if (reason === "granted") return "without a grant";
  if (reason === "user_input_override" && isMe) return "you typed";
  return reason === null ? "" : REASONS[reason];
}

/** How the agent stands; empty: nothing to say. */
export function agentText({ agentStatus, intent, reason }: ControlState): string {
  if (intent === "SAFE_INTERRUPT" && agentStatus !== "PAUSED") return "pauses at its next safe point";
  switch (agentStatus) {
    case "IDLE":
      return "";
    case "RUNNING":
      return "the agent works";
    case "PAUSED":
      return "the agent is paused";
    case "STOPPING":
      return "stopping …";
    case "STOPPED":
      return reason === "stop_now" ? "" : "the agent lost control; what it started runs on";
  }
}

/** An agent may have chosen it. */
export function titleOf(session: Pick<Session, "title" | "sessionId"> | undefined): string {
  return shownText(session?.title || session?.sessionId.slice(0, 8) || "session");
}
