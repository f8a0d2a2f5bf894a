import { describe, expect, test } from "vitest";
import type { Actor } from "./actor.ts";
import { type ControlCommand, type ControlOutcome, decideControl } from "./control.ts";
import { applyControl, describeControl, recorded } from "./control-record.ts";
import type { ControlState } from "./control-state.ts";
import {
  acquired,
  act,
  after,
  ANN,
  asked,
  attended,
  BEN,
  BOT,
  CAT,
  free,
  grant,
  granted,
  intent,
  LIVE,
  OVER,
  paused,
  point,
  refusal,
  stopped,
} from "./control-states.contract.ts";

function told({ facts }: ControlOutcome) {
  return facts.map(({ type, payload, by }) => [
    type,
    payload["change"] ?? payload["intent"] ?? payload["action"],
    by.id,
  ]);
}

describe("the unit tests of the source document", () => {
  test.each([
    { how: "acting", command: act(BOT, attended.epoch) },
    { how: "asking", command: { type: "request", by: BOT, reason: "r" } as const },
    { how: "a safe point", command: point(BOT) },
    { how: "renewing", command: { type: "renew", by: BOT } as const },
    { how: "granting", command: { ...grant, by: BOT } },
    { how: "taking", command: { type: "take", by: BOT } as const },
    { how: "releasing", command: { type: "release", by: BOT } as const },
  ])("[CTL-5] Agent cannot preempt user, by $how", ({ command }) => {
    for (const state of [
      attended,
      after(attended, { type: "take", by: ANN }),
      after(free, act(ANN)),
      stopped,
      paused,
    ]) {
      expect(decideControl(state, command, LIVE).state).toMatchObject({ mode: "USER", holder: state.holder });
    }
  });

  test("[CTL-31] STOP_NOW revokes control immediately", () => {
    const outcome = decideControl(granted, intent("STOP_NOW"), LIVE);

    expect(outcome.refusal).toBeUndefined();
    expect(outcome.state).toEqual({
      ...granted,
      epoch: granted.epoch + 1,
      mode: "USER",
      holder: ANN,
      lease: null,
      intent: "STOP_NOW",
      agentStatus: "STOPPING",
      held: true,
      reason: "stop_now",
    });
    expect(told(outcome)).toEqual([
      ["intent", "STOP_NOW", "ann"],
      ["control_handoff", "holder", "ann"],
    ]);
  });

  test("[CTL-28] SAFE_INTERRUPT pauses at safe points", () => {
    expect(asked).toMatchObject({ mode: "AGENT", epoch: granted.epoch, intent: "SAFE_INTERRUPT", interruptedBy: ANN });
    const outcome = decideControl(asked, point(BOT), LIVE);

    expect(outcome.action).toBe("PAUSE");
    expect(outcome.state).toMatchObject({
      mode: "USER",
      holder: ANN,
      agentStatus: "PAUSED",
      reason: "safe_interrupt",
      held: true,
      epoch: granted.epoch + 1,
    });
  });
});

describe("the invariants of the source document", () => {
  test("[CTL-16] Agent never takes control from user: not after any time, viewers, restarts or other agents", () => {
    const held = after(attended, { type: "take", by: ANN });
    const meanwhile: ControlCommand[] = [
      { type: "attended", attended: false },
      { type: "reconnect" },
      { type: "expire" },
      intent("WAIT"),
      act(CAT),
    ];

    const state = after(held, ...meanwhile, act(BOT), point(BOT), { type: "request", by: BOT, reason: "r" });

    expect(state).toMatchObject({ mode: "USER", holder: ANN, epoch: held.epoch });
  });

  test.each([
    { how: "take", command: { type: "take", by: BEN } as const, reason: "taken" },
    { how: "a key", command: act(BEN), reason: "user_input_override" },
    { how: "STOP_NOW", command: intent("STOP_NOW", BEN), reason: "stop_now" },
  ])("[CTL-14, CTL-31] User can always reclaim control instantly, by $how", ({ command, reason }) => {
    for (const state of [free, attended, granted, acquired, asked, after(attended, { ...grant, agentId: null })]) {
      const outcome = decideControl(state, command, LIVE);
      expect(outcome.refusal).toBeUndefined();
      expect(outcome.state).toMatchObject({ mode: "USER", holder: BEN, held: true, lease: null, reason });
      expect(outcome.state.epoch).toBe(state.epoch + 1);
    }
  });

  test.each([
    { what: "without a grant", state: attended, epoch: attended.epoch, refusal: "control_refused" },
    { what: "after a take", state: after(granted, { type: "take", by: ANN }), epoch: 3, refusal: "control_refused" },
    { what: "under a lease that is over", state: granted, moment: OVER, epoch: 2, refusal: "lease_expired" },
    { what: "later", state: after(granted, { type: "expire" }), moment: OVER, epoch: 3, refusal: "lease_expired" },
    { what: "under an older epoch", state: granted, epoch: granted.epoch - 1, refusal: "stale_epoch" },
    { what: "under a newer epoch", state: granted, epoch: granted.epoch + 1, refusal: "stale_epoch" },
    { what: "after a stop", state: stopped, epoch: stopped.epoch, refusal: "stopped" },
    { what: "after a pause", state: paused, epoch: paused.epoch, refusal: "paused" },
    { what: "at an interrupt", state: asked, epoch: asked.epoch, refusal: "paused" },
  ])("[CTL-22, CTL-24] No agent input without valid grant: $what", ({ state, epoch, moment = LIVE, refusal }) => {
    const outcome = decideControl(state, act(BOT, epoch), moment);

    expect(outcome.refusal).toBe(refusal);
  });

  test("[CTL-24] another agent is told that it has no control", () => {
    expect(refusal(granted, act(CAT, granted.epoch))).toBe("control_refused");
  });
});

describe("state", () => {
  test("[CTL-1] a record has the fields of the source document and ours", () => {
    expect(describeControl(granted)).toEqual({
      epoch: 2,
      interactive: true,
      control_mode: "AGENT",
      reason: "granted",
      holder: BOT,
      lease_seconds: 30,
      granted_seconds: 30,
      lease_expiry: "2026-01-01T00:00:30.000Z",
      granted_by: "ann",
      user_intent: "WAIT",
      agent_status: "IDLE",
      attended: true,
      held: true,
      requested_by: null,
      handback_note: null,
      interrupted_by: null,
    });
  });

  test.each<{ what: string; state: ControlState; command: ControlCommand; grows: number }>([
    { what: "grant", state: attended, command: grant, grows: 1 },
    { what: "take", state: granted, command: { type: "take", by: ANN }, grows: 1 },
    { what: "override", state: granted, command: act(ANN), grows: 1 },
    { what: "stop", state: granted, command: intent("STOP_NOW"), grows: 1 },
    { what: "pause", state: asked, command: point(BOT), grows: 1 },
    { what: "release", state: granted, command: { type: "release", by: BOT }, grows: 1 },
    { what: "a viewer", state: acquired, command: { type: "attended", attended: true }, grows: 1 },
    { what: "restart", state: granted, command: { type: "reconnect" }, grows: 1 },
    { what: "renew", state: granted, command: { type: "renew", by: BOT }, grows: 0 },
    { what: "SAFE_INTERRUPT", state: granted, command: intent("SAFE_INTERRUPT"), grows: 0 },
    { what: "WAIT", state: asked, command: intent("WAIT"), grows: 0 },
    { what: "request", state: attended, command: { type: "request", by: BOT, reason: "r" }, grows: 0 },
    { what: "a viewer's loss", state: granted, command: { type: "attended", attended: false }, grows: 0 },
    { what: "a key of who drives", state: stopped, command: act(ANN), grows: 0 },
    { what: "the end of a stop", state: stopped, command: { type: "stopped", receipt: {} }, grows: 0 },
  ])("[CTL-2] the epoch grows by $grows with $what", ({ state, command, grows }) => {
    expect(after(state, command).epoch - state.epoch).toBe(grows);
  });

  test("[CTL-2] expiry is a change of the holder too", () => {
    expect(decideControl(granted, { type: "expire" }, OVER).state).toMatchObject({ epoch: granted.epoch + 1 });
    expect(decideControl(granted, { type: "expire" }, LIVE).facts).toEqual([]);
  });

  test.each([
    {},
    { epoch: 1 },
    { epoch: "2", control_mode: "USER" },
    { ...describeControl(granted), user_intent: "x" },
  ])("[CTL-3] a record that makes no sense changes nothing (%j)", (payload) => {
    expect(applyControl(granted, { type: "control_handoff", payload, source: ANN })).toBe(granted);
  });

  test("[CTL-3] a record is read as it was written, through JSON", () => {
    const full = after(paused, { type: "request", by: CAT, reason: "please" });
    for (const state of [free, granted, asked, stopped, full]) {
      expect(recorded(JSON.parse(JSON.stringify(describeControl(state))) as never)).toEqual(state);
    }
  });

  test.each<{ what: string; state: ControlState; status: string }>([
    { what: "a grant", state: granted, status: "IDLE" },
    { what: "expiry", state: decideControl(granted, { type: "expire" }, OVER).state, status: "IDLE" },
    { what: "a pause", state: paused, status: "PAUSED" },
    { what: "a stop", state: stopped, status: "STOPPING" },
    { what: "a stop that is done", state: after(stopped, { type: "stopped", receipt: {} }), status: "STOPPED" },
    { what: "an override", state: after(granted, act(ANN)), status: "STOPPED" },
    { what: "a take from nobody", state: after(attended, { type: "take", by: ANN }), status: "IDLE" },
    {
      what: "a grant before a stop is done",
      state: after(stopped, grant, { type: "stopped", receipt: {} }),
      status: "IDLE",
    },
  ])("[CTL-4] agent_status after $what is $status", ({ state, status }) => {
    expect(state.agentStatus).toBe(status);
  });

  test("[CTL-4] the agent is RUNNING while a block of its own runs", () => {
    const block = (type: "agent_block_begin" | "agent_block_end", source: Actor) => ({ type, payload: {}, source });

    const running = applyControl(granted, block("agent_block_begin", BOT));
    expect(running?.agentStatus).toBe("RUNNING");
    expect(applyControl(running, block("agent_block_end", BOT))?.agentStatus).toBe("IDLE");
    expect(applyControl(granted, block("agent_block_begin", ANN))?.agentStatus).toBe("IDLE");
    expect(applyControl(paused, block("agent_block_begin", BOT))?.agentStatus).toBe("PAUSED");
  });
});
