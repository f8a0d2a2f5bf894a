/** Getting control: grants, leases, requests, waits, over HTTP. */
import { beforeAll, describe, expect, test } from "vitest";
import { grantWarning } from "../../src/domain/containment.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { codeOf, ControlHub } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";

let house: ControlHub;
beforeAll(async () => {
  house = await ControlHub.open();
  return house.stop;
});

const run = (conversation_id: string, command: string) => ({ conversation_id, command, wait_ms: WAIT_BUDGET_MS });

describe("grants", () => {
  test("[CTL-1, CTL-8, CTL-36] a grant answers the whole control state, and the agent drives under it", async () => {
    const { conversation_id, sessionId } = await house.flagged();
    expect(await codeOf(house.agent.pty.exec_block(run(conversation_id, "true")))).toBe("control_refused");

    const granted = await house.person.control.grant({ sessionId, lease_seconds: 30, agent_id: "agent", note: "go" });

    expect(granted).toEqual({
      session_id: sessionId,
      interactive: true,
      control_mode: "AGENT",
      lease_expiry: expect.stringMatching(/^\d{4}-.*Z$/),
      user_intent: "WAIT",
      agent_status: "IDLE",
      epoch: 2,
      holder: { kind: "agent", id: "agent" },
      reason: "granted",
      lease_seconds: 30,
      granted_by: "operator",
      requested_by: null,
      handback_note: "go",
      agents_may_acquire: true,
      containment: "open",
      warning: grantWarning("open"),
    });
    expect(await codeOf(house.otherAgent.pty.exec_block(run(conversation_id, "true")))).toBe("control_refused");
    expect(await house.agent.pty.exec_block(run(conversation_id, "echo $((6*7))"))).toMatchObject({ output: "42\n" });
  });

  test("[CTL-37] whoever looks at the session right after the answer sees who has control", async () => {
    const { sessionId } = await house.driven();
    const seen: (string | null)[] = [];
    const look = async () => seen.push((await house.person.session.get({ sessionId })).controllerId);

    for (let round = 0; round < 10; round += 1) {
      await house.person.control.take({ sessionId });
      await look();
      await house.person.control.grant({ sessionId, lease_seconds: 30, agent_id: "agent" });
      await look();
      await house.person.control.release({ sessionId });
      await look();
    }

    expect(seen).toEqual(Array.from({ length: 10 }, () => ["operator", "agent", null]).flat());
  });

  test.each([0, -1, 3600.5, 1e9, "30"])("[CTL-8] a lease of %s is refused", async (lease_seconds) => {
    const { sessionId } = await house.driven();
    const wrong = { sessionId, lease_seconds: lease_seconds as number, attend: true };

    expect(await codeOf(house.person.control.grant(wrong))).toBe("invalid_request");
    expect((await house.control(sessionId)).interactive).toBe(false);
  });

  test("[CTL-8] a grant needs an interactive session, or makes it one with `attend`", async () => {
    const { sessionId } = await house.driven();

    expect(await codeOf(house.person.control.grant({ sessionId, lease_seconds: 30 }))).toBe("invalid_transition");
    const granted = await house.person.control.grant({ sessionId, lease_seconds: 3600, attend: true });

    expect(granted).toMatchObject({ interactive: true, control_mode: "AGENT", lease_seconds: 3600 });
  });

  test("[CTL-8] without a name it is for the one who asked, else the owner, else whoever acts first", async () => {
    const owned = await house.driven();
    await house.person.control.take({ sessionId: owned.sessionId });
    const toOwner = await house.person.control.grant({ sessionId: owned.sessionId, lease_seconds: 30 });
    await house.person.control.take({ sessionId: owned.sessionId });
    await house.otherAgent.control.request({ sessionId: owned.sessionId, reason: "me" });
    const toAsker = await house.person.control.grant({ sessionId: owned.sessionId, lease_seconds: 30 });
    const nobodys = await house.flagged();
    const toAnybody = await house.person.control.grant({ sessionId: nobodys.sessionId, lease_seconds: 30 });
    await house.otherAgent.pty.exec_block(run(nobodys.conversation_id, "true"));

    expect([toOwner.holder?.id, toAsker.holder?.id, toAnybody.holder]).toEqual(["agent", "bob", null]);
    expect(toAsker.requested_by).toBeNull();
    expect(await house.control(nobodys.sessionId)).toMatchObject({
      holder: { kind: "agent", id: "bob" },
      epoch: toAnybody.epoch,
    });
    expect(await codeOf(house.agent.pty.exec_block(run(nobodys.conversation_id, "true")))).toBe("control_refused");
  });

  test("[CTL-13] what a person grants is in the log before the gate opens", async () => {
    const { sessionId } = await house.granted();

    const handoffs = await house.events(sessionId, ["control_handoff"]);

    const decided = handoffs.findIndex((it) => it.payload["change"] === "decided");
    expect(handoffs[decided]).toMatchObject({ source: { kind: "person", id: "operator" } });
    expect(handoffs[decided + 1]?.payload).toMatchObject({ change: "holder", reason: "granted" });
  });

  test("[CTL-36] a session that is closed or unknown has no control to give", async () => {
    const { sessionId } = await house.driven();
    await house.person.session.close({ sessionId });

    const refused = [
      await codeOf(house.person.control.grant({ sessionId, lease_seconds: 30, attend: true })),
      await codeOf(house.person.control.take({ sessionId })),
      await codeOf(house.person.control.user_intent({ sessionId, intent: "STOP_NOW" })),
      await codeOf(house.agent.control.request({ sessionId, reason: "x" })),
    ];
    const unknown = "00000000-0000-4000-8000-000000000000";

    expect(refused).toEqual(refused.map(() => "invalid_transition"));
    expect(await codeOf(house.agent.control.wait({ sessionId, timeout_ms: WAIT_BUDGET_MS }))).toBe("ok");
    expect(await codeOf(house.person.control.get({ sessionId: unknown }))).toBe("not_found");
    expect(await codeOf(house.person.control.take({ sessionId: unknown }))).toBe("not_found");
  });
});

describe("leases", () => {
  test("[CTL-17, CTL-24] a lease ends by itself: programs run on, input is refused, the agent is told", async () => {
    const { conversation_id, sessionId } = await house.granted();
    await house.agent.pty.exec_interactive({ conversation_id, command: "cat" });
    const waiting = house.agent.pty.wait_for({ conversation_id, match: "never", timeout_ms: WAIT_BUDGET_MS });

    await house.agent.control.renew({ sessionId, lease_seconds: 1 });

    expect(await waiting).toMatchObject({ reason: "revoked", control_reason: "lease_expired" });
    expect(await codeOf(house.agent.pty.send({ conversation_id, data: "x\r" }))).toBe("lease_expired");
    expect(await house.control(sessionId)).toMatchObject({
      control_mode: "USER",
      holder: { kind: "person", id: "operator" },
      lease_expiry: null,
      reason: "lease_expired",
    });
    expect((await house.person.pty.status({ conversation_id })).mode).toBe("interactive");
    expect((await house.reasons(sessionId)).at(-1)).toBe("lease_expired");
  });

  test("[CTL-2, CTL-10] renewing extends a live lease and changes no epoch", async () => {
    const { conversation_id, sessionId } = await house.granted();
    const { epoch, lease_expiry } = await house.control(sessionId);

    const renewed = await house.agent.control.renew({ sessionId, epoch, lease_seconds: 3600 });

    expect(renewed).toMatchObject({ epoch, lease_seconds: 3600, control_mode: "AGENT" });
    expect(Date.parse(renewed.lease_expiry ?? "")).toBeGreaterThan(Date.parse(lease_expiry ?? ""));
    expect(await codeOf(house.agent.pty.exec_block(run(conversation_id, "true")))).toBe("ok");
  });

  test("[CTL-10] it needs the holder, the epoch, the intent WAIT and a lease that is not over", async () => {
    const { sessionId } = await house.granted();
    const { epoch } = await house.control(sessionId);
    const stale = await codeOf(house.agent.control.renew({ sessionId, epoch: epoch - 1 }));
    const other = await codeOf(house.otherAgent.control.renew({ sessionId }));
    await house.person.control.user_intent({ sessionId, intent: "SAFE_INTERRUPT" });
    const interrupted = await codeOf(house.agent.control.renew({ sessionId }));
    await house.person.control.user_intent({ sessionId, intent: "WAIT" });
    const again = await codeOf(house.agent.control.renew({ sessionId }));
    await house.person.control.grant({ sessionId, lease_seconds: 0.2 });
    // The gate's clock begins when the grant has come to it, later than what people are told by.
    await eventually(async () => expect((await house.control(sessionId)).reason).toBe("lease_expired"));
    const over = await codeOf(house.agent.control.renew({ sessionId }));
    await house.person.control.user_intent({ sessionId, intent: "STOP_NOW" });

    expect([stale, other, interrupted, again, over]).toEqual([
      "stale_epoch",
      "control_refused",
      "paused",
      "ok",
      "lease_expired",
    ]);
    expect(await codeOf(house.agent.control.renew({ sessionId }))).toBe("stopped");
  });
});

describe("asking and waiting", () => {
  test("[CTL-7, CTL-11] where nobody attends a request is granted at once, without a lease", async () => {
    const { sessionId } = await house.driven();
    await house.agent.control.release({ sessionId });

    const asked = await house.otherAgent.control.request({ sessionId, reason: "my turn" });

    expect(asked).toMatchObject({
      control_mode: "AGENT",
      holder: { kind: "agent", id: "bob" },
      lease_expiry: null,
      interactive: false,
      requested_by: null,
    });
  });

  test("[CTL-12, CTL-34] an agent that waits is woken by a grant, with what the person did and the note", async () => {
    const { conversation_id, sessionId } = await house.driven();
    await house.person.control.take({ sessionId });
    await house.person.pty.exec_block(run(conversation_id, "echo by-hand; false"));
    await house.agent.control.request({ sessionId, reason: "to finish" });
    const waiting = house.agent.control.wait({ sessionId, timeout_ms: WAIT_BUDGET_MS });

    await house.person.control.release({ sessionId, lease_seconds: 60, note: "fixed the config" });

    const answer = await waiting;
    expect(answer).toMatchObject({
      control_mode: "AGENT",
      holder: { kind: "agent", id: "agent" },
      handback_note: "fixed the config",
      lease_seconds: 60,
      requested_by: null,
      changed: { blocks: [{ command: "echo by-hand; false", exit_code: 1 }] },
    });
    const { from_cursor, to_cursor } = answer.changed!;
    const seen = await house.agent.pty.read_output({ conversation_id, from_cursor, to_cursor, view: "text" });
    expect(seen.data).toContain("by-hand");
    expect((await house.agent.control.get({ sessionId })).changed).toEqual(answer.changed);
    expect((await house.person.control.get({ sessionId })).changed).toBeUndefined();
  });

  test("[CTL-12] it is woken by a decline, and by the end of its time", async () => {
    const { sessionId } = await house.flagged();
    await house.agent.control.request({ sessionId, reason: "please" });
    const waiting = house.agent.control.wait({ sessionId, timeout_ms: WAIT_BUDGET_MS });
    const kept = await house.person.control.decline({ sessionId, agent_id: "bob" });
    const declined = await house.person.control.decline({ sessionId, agent_id: "agent" });

    expect(kept.requested_by).toMatchObject({ agent_id: "agent" });
    expect(await waiting).toMatchObject({ control_mode: "USER", requested_by: null });
    expect(declined.requested_by).toBeNull();
    const began = performance.now();
    const late = await house.agent.control.wait({ sessionId, timeout_ms: 300 });
    expect(performance.now() - began).toBeGreaterThanOrEqual(290);
    expect(late.control_mode).toBe("USER");
  });

  test("[CTL-12] a decline that comes before the agent waits is heard by its next wait, once", async () => {
    const { sessionId } = await house.flagged();
    await house.agent.control.request({ sessionId, reason: "please" });
    await house.person.control.decline({ sessionId });

    // Longer than this test may take.
    await house.agent.control.wait({ sessionId, timeout_ms: WAIT_BUDGET_MS });
    const began = performance.now();
    await house.agent.control.wait({ sessionId, timeout_ms: 300 });

    expect(performance.now() - began).toBeGreaterThanOrEqual(290);
  });

  test("[CTL-12] a session that closes ends the wait", async () => {
    const { sessionId } = await house.flagged();
    const waiting = house.agent.control.wait({ sessionId, timeout_ms: WAIT_BUDGET_MS });

    await house.person.session.close({ sessionId });

    expect((await waiting).control_mode).toBe("USER");
  });
});

describe("two of them", () => {
  test("[CTL-7, CTL-33] where nobody attends, another agent's input takes over, and the first is told", async () => {
    const { conversation_id, sessionId } = await house.driven();
    const waiting = house.agent.pty.wait_for({ conversation_id, match: "never", timeout_ms: WAIT_BUDGET_MS });

    await house.otherAgent.pty.exec_block(run(conversation_id, "true"));

    expect(await waiting).toMatchObject({ reason: "revoked", control_reason: "granted" });
    expect((await house.control(sessionId)).holder).toEqual({ kind: "agent", id: "bob" });
  });

  test("[CTL-16] two people share the hold; either may take, grant and release", async () => {
    const { conversation_id, sessionId } = await house.driven();
    await house.person.control.take({ sessionId });
    const { epoch } = await house.control(sessionId);

    await house.otherPerson.session.input({ sessionId, data: "echo two\r" });
    const typed = await house.control(sessionId);
    const taken = await house.otherPerson.control.take({ sessionId });
    const released = await house.person.control.release({ sessionId });

    expect(typed).toMatchObject({ epoch, holder: { kind: "person", id: "operator" } });
    expect(taken).toMatchObject({ epoch: epoch + 1, holder: { kind: "person", id: "olga" } });
    expect(released).toMatchObject({ epoch: epoch + 2, holder: null, interactive: false });
    // What was typed may still run.
    await eventually(async () =>
      expect(await codeOf(house.agent.pty.exec_block(run(conversation_id, "true")))).toBe("ok"),
    );
  });

  test("[CTL-13] of two grants at the same time one counts", async () => {
    const { sessionId } = await house.flagged();

    const both = await Promise.allSettled([
      house.person.control.grant({ sessionId, lease_seconds: 30, agent_id: "agent" }),
      house.otherPerson.control.grant({ sessionId, lease_seconds: 30, agent_id: "bob" }),
    ]);

    const codes = both.map((it) => (it.status === "fulfilled" ? "ok" : (it.reason as { code: string }).code));
    expect(codes.sort()).toEqual(["ok", "stale_epoch"]);
  });

  test("[CTL-7] `agents_may_acquire: false` leaves nothing but grants", async () => {
    const workspaceId = "by-grant-only";
    const settings = { containment: "open", agents_may_acquire: false } as const;
    await house.person.workspace.put({ workspaceId, hostId: await house.hostId(), settings });
    const conversation_id = house.conversation();
    const session = { kind: "terminal", workspaceId, conversationId: conversation_id } as const;
    const { sessionId } = await house.agent.session.create(session);

    expect(await codeOf(house.agent.pty.exec_block(run(conversation_id, "true")))).toBe("control_refused");
    expect(await codeOf(house.agent.session.close({ sessionId }))).toBe("control_refused");
    const asked = await house.agent.control.request({ sessionId, reason: "to begin" });
    expect(asked).toMatchObject({ control_mode: "USER", requested_by: { agent_id: "agent" } });
    await house.person.control.grant({ sessionId, lease_seconds: 30, attend: true });
    expect(await codeOf(house.agent.pty.exec_block(run(conversation_id, "true")))).toBe("ok");
  });

  test("[CTL-7] it holds in sessions that run already, and can be taken back there", async () => {
    const workspaceId = "by-grant-later";
    const hostId = await house.hostId();
    const setting = (agents_may_acquire: boolean) =>
      house.person.workspace.put({ workspaceId, hostId, settings: { agents_may_acquire } });
    await setting(true);
    const { conversation_id, sessionId } = await house.driven({ workspaceId });
    const act = () => codeOf(house.agent.pty.exec_block(run(conversation_id, "true")));

    await setting(false);
    expect(await act()).toBe("ok");
    await house.agent.control.release({ sessionId });

    expect(await act()).toBe("control_refused");
    await setting(true);
    await eventually(async () => expect(await act()).toBe("ok"));
  });
});
