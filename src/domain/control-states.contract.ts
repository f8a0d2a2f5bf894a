/** People, agents and the states they bring about, for the tests of the control machine. */
import { expect } from "vitest";
import type { Actor } from "./actor.ts";
import { type ControlCommand, decideControl, type Moment } from "./control.ts";
import { type ControlState, initialControl, type ControlRefusal } from "./control-state.ts";

export const ANN: Actor = { kind: "person", id: "ann" };
export const BEN: Actor = { kind: "person", id: "ben" };
export const BOT: Actor = { kind: "agent", id: "bot" };
export const CAT: Actor = { kind: "agent", id: "cat" };
export const AT = 1_767_225_600_000;
export const LIVE: Moment = { leaseLive: true, at: AT, mayAcquire: true };
export const OVER: Moment = { ...LIVE, leaseLive: false };

export const grant = { type: "grant", by: ANN, agentId: "bot", leaseSeconds: 30, attend: false } as const;
export const act = (by: Actor, epoch?: number): ControlCommand => ({ type: "act", by, epoch });
export const intent = (name: ControlState["intent"], by = ANN): ControlCommand => ({
  type: "intent",
  by,
  intent: name,
});
export const point = (by: Actor): ControlCommand => ({ type: "safe_point", by, step: "click", sequence: 42 });

export function after(state: ControlState, ...commands: readonly ControlCommand[]): ControlState {
  return commands.reduce((known, command) => decideControl(known, command, LIVE).state, state);
}

/** What is refused changes nothing; a lease that is over ends all the same. */
export function refusal(state: ControlState, command: ControlCommand, moment = LIVE): ControlRefusal | undefined {
  const outcome = decideControl(state, command, moment);
  if (outcome.refusal !== undefined && moment.leaseLive) expect([outcome.state, outcome.facts]).toEqual([state, []]);
  return outcome.refusal;
}

export const free = initialControl(false);
export const attended = initialControl(true);
export const granted = after(attended, grant);
export const acquired = after(free, act(BOT));
export const stopped = after(granted, intent("STOP_NOW"));
export const asked = after(granted, intent("SAFE_INTERRUPT"));
export const paused = after(asked, point(BOT));
