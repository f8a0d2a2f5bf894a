import { describe, expect, test } from "vitest";
import type { Actor } from "./actor.ts";
import { type ControlCommand, decideControl } from "./control.ts";
import { applyControl } from "./control-record.ts";
import { type ControlState, isInteractive } from "./control-state.ts";
import {
  acquired,
  act,
  after,
  ANN,
  asked,
  AT,
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

const HOST: Actor = { kind: "host", id: "here" };
const take = { type: "take", by: ANN } as const;
const request = { type: "request", by: BOT, reason: "to deploy" } as const;

describe("getting control", () => {
  test.each([
    { by: "a viewer", state: after(free, { type: "attended", attended: true }), interactive: true },
    { by: "take", state: after(free, take), interactive: true },
    { by: "input", state: after(free, act(ANN)), interactive: true },
    { by: "a stop", state: after(free, intent("STOP_NOW")), interactive: true },
    { by: "a grant at a command line", state: after(free, { ...grant, attend: true }), interactive: true },
    { by: "an agent", state: acquired, interactive: false },
    { by: "release", state: after(free, take, { type: "release", by: ANN }), interactive: false },
    { by: "an agent's release", state: after(granted, { type: "release", by: BOT }), interactive: true },
  ])("[CTL-6] a session is interactive ($interactive) after $by", ({ state, interactive }) => {
    expect(isInteractive(state)).toBe(interactive);
  });

  test("[CTL-7] where nobody attends, an agent's input acquires without a lease, and so does another's", () => {
    expect(acquired).toEqual({ ...free, epoch: 2, mode: "AGENT", holder: BOT, reason: "granted" });
    expect(after(acquired, act(CAT))).toEqual({ ...acquired, epoch: 3, holder: CAT });
  });

  test("[CTL-7] a workspace may forbid it", () => {
    const outcome = decideControl(free, act(BOT), { ...LIVE, mayAcquire: false });

    expect(outcome).toEqual({ state: free, facts: [], refusal: "control_refused" });
  });

  test("[CTL-8] a grant needs an interactive session, or makes it so by itself", () => {
    expect(refusal(free, grant)).toBe("invalid_transition");
    expect(after(free, { ...grant, attend: true })).toMatchObject({ mode: "AGENT", holder: BOT, held: true });
    expect(refusal(attended, { ...grant, expectedEpoch: 7 })).toBe("stale_epoch");
  });

  test("[CTL-8] a grant to nobody in particular is bound to the first agent that acts", () => {
    const open = after(attended, { ...grant, agentId: null });
    const bound = after(open, act(CAT));

    expect(open).toMatchObject({ mode: "AGENT", holder: null });
    expect(bound).toEqual({ ...open, holder: CAT });
    expect(refusal(bound, { type: "act", by: BOT, epoch: bound.epoch })).toBe("control_refused");
  });

  test.each<ControlCommand["type"]>(["grant", "take", "intent", "decline"])(
    "[CTL-9] %s by an agent or a host is refused",
    (type) => {
      const commands = (by: Actor): ControlCommand[] => [
        { ...grant, by, attend: true },
        { type: "take", by },
        intent("STOP_NOW", by),
        intent("WAIT", by),
        { type: "decline", by },
      ];
      const tried = [BOT, HOST].flatMap(commands).filter((it) => it.type === type);

      for (const command of tried) expect(refusal(granted, command)).toBe("control_refused");
    },
  );

  test("[CTL-9] a host neither acts nor releases", () => {
    expect(refusal(granted, act(HOST))).toBe("control_refused");
    expect(refusal(granted, { type: "release", by: HOST })).toBe("control_refused");
  });

  test("[CTL-10] renew extends a live lease by what was granted or by what is asked", () => {
    const later = { ...LIVE, at: AT + 20_000 };

    expect(decideControl(granted, { type: "renew", by: BOT }, later).state).toEqual({
      ...granted,
      lease: { seconds: 30, granted: 30, endsAt: AT + 50_000, by: "ann" },
    });
    const renewed = decideControl(granted, { type: "renew", by: BOT, leaseSeconds: 5 }, later).state;
    expect(renewed.lease).toEqual({ seconds: 5, granted: 30, endsAt: AT + 25_000, by: "ann" });
  });

  test("[CTL-3, CTL-10] a renewal that asks for nothing is as granted, also after one that asked, and after a replay", () => {
    const { state, facts } = decideControl(granted, { type: "renew", by: BOT, leaseSeconds: 5 }, LIVE);
    const folded = applyControl(granted, { ...facts[0]!, source: BOT });

    expect(folded).toEqual(state);
    expect(after(folded!, { type: "renew", by: BOT }).lease?.seconds).toBe(30);
  });

  test.each<{ what: string; state: ControlState; by?: Actor; epoch?: number; code: string }>([
    { what: "another epoch", state: granted, epoch: 1, code: "stale_epoch" },
    { what: "a pending interrupt", state: asked, code: "paused" },
    { what: "a stop", state: stopped, code: "stopped" },
    { what: "a pause", state: paused, code: "paused" },
    { what: "a take", state: after(granted, take), code: "control_refused" },
    { what: "another holder", state: granted, by: CAT, code: "control_refused" },
    { what: "no holder yet", state: after(attended, { ...grant, agentId: null }), code: "control_refused" },
  ])("[CTL-10] renew is refused with $what", ({ state, by = BOT, epoch, code }) => {
    expect(refusal(state, { type: "renew", by, epoch })).toBe(code);
  });

  test("[CTL-10] renew never revives a lease that is over", () => {
    const outcome = decideControl(granted, { type: "renew", by: BOT }, OVER);

    expect(outcome).toMatchObject({ refusal: "lease_expired", state: { mode: "USER", lease: null } });
  });

  test("[CTL-11] a request is granted at once where an agent may acquire, else it is kept and answered", () => {
    expect(after(free, request)).toEqual(acquired);
    const waiting = after(attended, request);

    expect(waiting).toEqual({ ...attended, request: { agentId: "bot", reason: "to deploy", at: AT } });
    expect(after(waiting, grant)).toMatchObject({ mode: "AGENT", request: null });
    expect(after(waiting, { type: "decline", by: ANN })).toEqual(attended);
    expect(after(waiting, { type: "decline", by: ANN, agentId: "somebody else" })).toEqual(waiting);
    expect(after(waiting, { type: "decline", by: ANN, agentId: waiting.request?.agentId })).toEqual(attended);
    expect(after(stopped, request)).toEqual({ ...stopped, request: waiting.request });
  });
});

describe("losing control", () => {
  test("[CTL-14] keys of whoever drives, or of another person beside them, change nothing", () => {
    const held = after(attended, take);

    expect(decideControl(held, act(ANN), LIVE)).toEqual({ state: held, facts: [] });
    expect(decideControl(held, act(BEN), LIVE)).toEqual({ state: held, facts: [] });
  });

  test("[CTL-17] an expired lease goes back to who granted it; whatever is asked then comes after", () => {
    const outcome = decideControl(granted, { ...grant, by: BEN }, OVER);

    expect(outcome.facts.map(({ payload }) => [payload["reason"], payload["holder"]])).toEqual([
      ["lease_expired", ANN],
      ["granted", BOT],
    ]);
    expect(outcome.state).toMatchObject({ epoch: granted.epoch + 2, lease: { by: "ben" } });
  });

  test("[CTL-18] a viewer revokes an agent that no person let drive, and nobody else", () => {
    const comes = { type: "attended", attended: true } as const;

    expect(after(acquired, comes)).toMatchObject({ mode: "USER", holder: null, reason: "viewer_attached" });
    const unattended = after(free, { ...grant, attend: true });
    expect(after(unattended, comes)).toEqual({ ...unattended, attended: true });
  });

  test("[CTL-18] where the workspace says so, a viewer asks for a pause instead", () => {
    const state = after(acquired, { type: "attended", attended: true, instead: "safe_interrupt" });

    expect(state).toEqual({ ...acquired, attended: true, intent: "SAFE_INTERRUPT" });
    expect(after(state, act(BOT))).toMatchObject({ mode: "USER", holder: null, agentStatus: "PAUSED", held: true });
  });

  test("[APR-14] an interrupt pauses the agent at its next step, and takes nothing from a stop or a person's pause", () => {
    const interrupt = { type: "interrupt", cause: "approval_violated" } as const;
    const { state, facts } = decideControl(acquired, interrupt, LIVE);
    const asksForPause = after(acquired, intent("SAFE_INTERRUPT"));

    expect(facts.map(({ type, payload }) => [type, payload["cause"]])).toEqual([["intent", "approval_violated"]]);
    expect(state).toEqual({ ...acquired, intent: "SAFE_INTERRUPT" });
    expect(after(state, act(BOT))).toMatchObject({ mode: "USER", holder: null, agentStatus: "PAUSED" });
    expect(after(stopped, interrupt)).toEqual(stopped);
    expect(after(asksForPause, interrupt)).toEqual(asksForPause);
  });

  test("[CTL-19] a viewer's loss grants nothing", () => {
    const left = after(after(attended, take), { type: "attended", attended: false });

    expect(refusal(left, { type: "act", by: BOT, epoch: left.epoch })).toBe("control_refused");
  });

  test.each([
    { what: "a grant", state: granted, holder: ANN, held: true },
    { what: "an acquisition", state: acquired, holder: null, held: false },
  ])("[CTL-20] a hub that knows nothing of $what revokes it; one that knows its epoch does not", (given) => {
    const { state, holder, held } = given;

    expect(after(state, { type: "reconnect" })).toMatchObject({ mode: "USER", holder, held, reason: "restart" });
    expect(after(state, { type: "reconnect", knownEpoch: state.epoch - 1 }).mode).toBe("USER");
    expect(after(state, { type: "reconnect", knownEpoch: state.epoch })).toBe(state);
  });

  test("[CTL-20] the person's hold, STOP_NOW and a pending interrupt outlive a restart", () => {
    for (const state of [stopped, paused, after(free, take)]) expect(after(state, { type: "reconnect" })).toBe(state);
    const pending = after(acquired, intent("SAFE_INTERRUPT"), { type: "reconnect" });

    expect(pending).toMatchObject({ mode: "USER", intent: "SAFE_INTERRUPT", interruptedBy: ANN });
    expect(after(pending, act(BOT))).toMatchObject({ mode: "USER", holder: ANN, agentStatus: "PAUSED" });
  });

  test("[CTL-21] a person's release leaves nobody in control and ends the hold, STOP_NOW and a pause", () => {
    for (const state of [granted, stopped, paused, after(attended, take)]) {
      expect(after(state, { type: "release", by: BEN, note: "over to you" })).toMatchObject({
        mode: "USER",
        holder: null,
        lease: null,
        held: false,
        intent: "WAIT",
        agentStatus: "IDLE",
        note: "over to you",
      });
    }
  });

  test("[CTL-21] an agent gives up only what it has, and gives nobody else control by it", () => {
    const state = after(granted, { type: "release", by: BOT });

    expect(state).toMatchObject({ mode: "USER", holder: null, lease: null, held: true });
    expect(refusal(state, { type: "act", by: CAT, epoch: state.epoch })).toBe("control_refused");
    expect(refusal(granted, { type: "release", by: CAT })).toBe("control_refused");
  });

  test("[CTL-23] input of an older epoch is late, also when the same agent has control again", () => {
    const again = after(granted, take, grant);

    expect(refusal(again, { type: "act", by: BOT, epoch: granted.epoch })).toBe("stale_epoch");
    expect(refusal(again, { type: "act", by: BOT, epoch: again.epoch })).toBeUndefined();
  });
});

describe("intents", () => {
  test("[CTL-27] WAIT withdraws a pending interrupt, but not a stop", () => {
    expect(after(asked, intent("WAIT"))).toEqual(granted);
    const outcome = decideControl(stopped, intent("WAIT"), LIVE);

    expect([outcome.refusal, outcome.state]).toEqual([undefined, stopped]);
    expect(outcome.facts[0]?.payload).toMatchObject({ intent: "WAIT", user_intent: "STOP_NOW" });
  });

  test("[CTL-27] SAFE_INTERRUPT doesn't soften a stop", () => {
    expect(after(stopped, intent("SAFE_INTERRUPT"))).toEqual(stopped);
  });

  test.each([
    { what: "its holder", state: granted, by: BOT, action: "CONTINUE" },
    { what: "another agent", state: granted, by: CAT, action: "STOP" },
    { what: "an interrupted holder", state: asked, by: BOT, action: "PAUSE" },
    { what: "one that was paused", state: paused, by: BOT, action: "STOP" },
    { what: "one that was stopped", state: stopped, by: BOT, action: "STOP" },
    { what: "one without control", state: attended, by: BOT, action: "STOP" },
    { what: "one that may acquire", state: free, by: BOT, action: "CONTINUE" },
  ])("[CTL-29] at a safe point $what is told $action", ({ state, by, action }) => {
    const outcome = decideControl(state, point(by), LIVE);

    expect(outcome.action).toBe(action);
    expect(outcome.facts.at(-1)).toMatchObject({
      type: "safe_point",
      by,
      payload: { step: "click", sequence: 42, action },
    });
  });

  test("[CTL-29] the moment before an input is a safe point too", () => {
    const outcome = decideControl(asked, { type: "act", by: BOT, epoch: asked.epoch }, LIVE);

    expect(outcome).toMatchObject({ refusal: "paused", state: { mode: "USER", agentStatus: "PAUSED" } });
  });

  test("[CTL-31] STOP_NOW stands until a grant or a person's release", () => {
    const tried: ControlCommand[] = [
      intent("WAIT"),
      intent("SAFE_INTERRUPT"),
      take,
      act(ANN),
      request,
      point(BOT),
      { type: "stopped", receipt: {} },
      { type: "attended", attended: false },
      { type: "reconnect" },
    ];

    expect(after(stopped, ...tried).intent).toBe("STOP_NOW");
    expect(after(stopped, grant).intent).toBe("WAIT");
    expect(after(stopped, { type: "release", by: ANN }).intent).toBe("WAIT");
  });

  test("[CTL-32] a stop ends with one receipt, which carries the state after it", () => {
    const outcome = decideControl(stopped, { type: "stopped", receipt: { killed_count: 3 } }, LIVE);

    expect(outcome.facts).toMatchObject([
      { type: "receipt", by: { kind: "system" }, payload: { killed_count: 3, agent_status: "STOPPED" } },
    ]);
  });
});
