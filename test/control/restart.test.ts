/** The hub ends, is killed, or loses its host while somebody has control: nobody gets any by it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SidestickClient } from "../../src/client/sidestick.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { codeOf } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { type HubProcess, openHubProcess } from "../support/hub.ts";
import { clientOf, endHost } from "../support/terminal-hub.ts";

type People = { readonly agent: SidestickClient; readonly person: SidestickClient };
type Kept = { readonly conversation_id: string; readonly sessionId: string };

async function peopleOf(hub: HubProcess, dataDir: string): Promise<People> {
  return {
    agent: await clientOf(hub.url, dataDir, "agent"),
    person: await clientOf(hub.url, dataDir, "operator"),
  };
}

/** A session of the agent's, in which it has control that it acquired itself. */
async function begun(agent: SidestickClient, conversation_id: string): Promise<Kept> {
  const command = { conversation_id, command: "X=1", wait_ms: WAIT_BUDGET_MS };
  const { workspace_session_id: sessionId } = await agent.pty.exec_block(command);
  return { conversation_id, sessionId };
}

/** What is done in each session before the hub goes, and what is then known of it. */
const BEFORE = {
  granted: async ({ agent, person }: People) => {
    const kept = await begun(agent, "granted");
    const { conversation_id, sessionId } = kept;
    await person.control.grant({ sessionId, lease_seconds: 3600, attend: true });
    await agent.pty.exec_interactive({ conversation_id, command: "cat" });
    return { ...kept, control: await person.control.get({ sessionId }) };
  },
  acquired: ({ agent }: People) => begun(agent, "acquired"),
  taken: async ({ agent, person }: People) => {
    const kept = await begun(agent, "taken");
    return { ...kept, control: await person.control.take({ sessionId: kept.sessionId }) };
  },
  stopped: async ({ agent }: People) => {
    const kept = await begun(agent, "stopped");
    const { conversation_id } = kept;
    // It says itself that it is there to be killed.
    const { cursor } = await agent.pty.exec_block({ conversation_id, command: `sh -c 'echo on; exec sleep 1000'` });
    await agent.pty.wait_for({ conversation_id, match: "on\n", from_cursor: cursor, timeout_ms: WAIT_BUDGET_MS });
    return kept;
  },
  interrupted: async ({ agent, person }: People) => {
    const kept = await begun(agent, "interrupted");
    const { sessionId } = kept;
    await person.control.grant({ sessionId, lease_seconds: 3600, attend: true });
    await person.control.user_intent({ sessionId, intent: "SAFE_INTERRUPT" });
    return kept;
  },
  handedOver: async ({ agent, person }: People) => {
    const kept = await begun(agent, "handed over");
    const { conversation_id, sessionId } = kept;
    await person.control.take({ sessionId });
    await agent.control.request({ sessionId, reason: "again" });
    await person.control.release({ sessionId, lease_seconds: 60, note: "yours" });
    await agent.pty.exec_block({ conversation_id, command: "true", wait_ms: WAIT_BUDGET_MS });
    await person.control.user_intent({ sessionId, intent: "SAFE_INTERRUPT" });
    await agent.control.safe_point({ sessionId, step: "s", sequence: 1 });
    return { ...kept, control: await person.control.get({ sessionId }) };
  },
  leased: ({ agent }: People) => begun(agent, "leased"),
};

type Before = { readonly [Name in keyof typeof BEFORE]: Awaited<ReturnType<(typeof BEFORE)[Name]>> };

/** What is to reach its end without a hub is begun last. */
async function prepare(people: People): Promise<Before & { readonly leaseEnds: number }> {
  const { person } = people;
  const kept = await Promise.all(Object.entries(BEFORE).map(async ([name, make]) => [name, await make(people)]));
  const before = Object.fromEntries(kept) as Before;
  const terms = { sessionId: before.leased.sessionId, lease_seconds: 1, attend: true };
  const { lease_expiry } = await person.control.grant(terms);
  await person.control.user_intent({ sessionId: before.stopped.sessionId, intent: "STOP_NOW" });
  return { ...before, leaseEnds: Date.parse(lease_expiry ?? "") };
}

describe.each([
  { how: "ended", signal: "SIGTERM" },
  { how: "killed", signal: "SIGKILL" },
] as const)("a hub that was $how", ({ signal }) => {
  const ends: (() => Promise<unknown>)[] = [];
  let before: Before;
  let agent: SidestickClient;
  let person: SidestickClient;

  beforeAll(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "sidestick-"));
    ends.push(
      () => rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }),
      () => endHost(dataDir),
    );
    const options = { composition: "terminal-hub", whenOver: (kill: () => Promise<void>) => ends.push(kill) } as const;
    const hub = await openHubProcess(dataDir, [], options);
    const { leaseEnds, ...kept } = await prepare(await peopleOf(hub, dataDir));
    before = kept;
    await hub.kill(signal);
    await eventually(() => expect(Date.now()).toBeGreaterThan(leaseEnds + 300));
    ({ agent, person } = await peopleOf(await openHubProcess(dataDir, [], options), dataDir));
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  test("[CTL-20] revokes the agent that a person granted control", async () => {
    const { conversation_id, sessionId, control } = before.granted;

    expect(await person.control.get({ sessionId })).toMatchObject({
      control_mode: "USER",
      holder: { kind: "person", id: "operator" },
      lease_expiry: null,
      reason: "restart",
      interactive: true,
      epoch: control.epoch + 1,
    });
    expect(await codeOf(agent.pty.send({ conversation_id, data: "evil\r" }))).toBe("control_refused");
    // What it had started goes on.
    expect((await person.pty.status({ conversation_id })).mode).toBe("interactive");
  });

  test("[CTL-20] an agent that acquired control by itself has to acquire it again", async () => {
    const { conversation_id, sessionId } = before.acquired;
    const between = await person.control.get({ sessionId });
    const again = await agent.pty.exec_block({ conversation_id, command: "echo $X", wait_ms: WAIT_BUDGET_MS });

    expect(between).toMatchObject({ control_mode: "USER", holder: null, reason: "restart", interactive: false });
    expect(again.output).toBe("1\n");
    expect((await person.control.get({ sessionId })).epoch).toBe(between.epoch + 1);
  });

  test("[CTL-16, CTL-20] the hold of a person outlives it", async () => {
    const { conversation_id, sessionId, control } = before.taken;

    expect(await person.control.get({ sessionId })).toEqual(control);
    expect(await codeOf(agent.pty.exec_block({ conversation_id, command: "true" }))).toBe("control_refused");
  });

  test("[CTL-20, CTL-31] STOP_NOW outlives it, and its receipt is in the log", async () => {
    const { conversation_id, sessionId } = before.stopped;

    expect(await person.control.get({ sessionId })).toMatchObject({ user_intent: "STOP_NOW", control_mode: "USER" });
    expect(await codeOf(agent.pty.exec_block({ conversation_id, command: "true" }))).toBe("stopped");
    const receipts = await eventually(async () => {
      const found = await person.event.list({ sessionId, types: ["receipt"] });
      expect(found, JSON.stringify(found)).toHaveLength(1);
      return found;
    });
    expect(receipts[0]?.payload).toMatchObject({ killed_count: 1, survivors: [] });
  });

  test("[CTL-20] a pending interrupt outlives it", async () => {
    expect(await person.control.get({ sessionId: before.interrupted.sessionId })).toMatchObject({
      user_intent: "SAFE_INTERRUPT",
      control_mode: "USER",
    });
  });

  test("[CTL-17, CTL-26] without a hub a lease ends by itself, at its time", async () => {
    const { sessionId } = before.leased;
    const handoffs = await person.event.list({ sessionId, types: ["control_handoff"] });

    expect(handoffs.at(-1)?.payload).toMatchObject({ reason: "lease_expired", control_mode: "USER" });
    expect(await person.control.get({ sessionId })).toMatchObject({ reason: "lease_expired" });
  });

  test("[CTL-3] what a new hub folds from the log is what the gate had said", async () => {
    const { sessionId, control } = before.handedOver;

    expect(await person.control.get({ sessionId })).toEqual(control);
  });
});
