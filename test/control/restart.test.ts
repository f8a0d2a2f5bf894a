/** The hub ends, is killed, or loses its host while somebody has control: nobody gets any by it. */
import { expect, test } from "vitest";
import type { SidestickClient } from "../../src/client/sidestick.ts";
import { codeOf } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { type HubProcess, spawnTestHub } from "../support/hub.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { clientOf, endHostAfterTest } from "../support/terminal-hub.ts";

type People = { readonly agent: SidestickClient; readonly person: SidestickClient };

async function begun() {
  const dataDir = await temporaryDirectory();
  endHostAfterTest(dataDir);
  const hub = await spawnTestHub(dataDir, [], "terminal-hub");
  const people = await peopleOf(hub, dataDir);
  const conversation_id = "kept";
  const command = { conversation_id, command: "X=1", wait_ms: 20_000 };
  const { workspace_session_id: sessionId } = await people.agent.pty.exec_block(command);
  const restart = async (signal: NodeJS.Signals): Promise<People> => {
    await hub.kill(signal);
    return peopleOf(await spawnTestHub(dataDir, [], "terminal-hub"), dataDir);
  };
  return { dataDir, hub, ...people, conversation_id, sessionId, restart };
}

async function peopleOf(hub: HubProcess, dataDir: string): Promise<People> {
  return {
    agent: await clientOf(hub.url, dataDir, "agent"),
    person: await clientOf(hub.url, dataDir, "operator"),
  };
}

const SIGNALS = [
  { how: "ended", signal: "SIGTERM" },
  { how: "killed", signal: "SIGKILL" },
] as const;

test.each(SIGNALS)(
  "[CTL-20] a hub that was $how revokes the agent that a person granted control",
  async ({ signal }) => {
    const { conversation_id, sessionId, person, agent, restart } = await begun();
    await person.control.grant({ sessionId, lease_seconds: 3600, attend: true });
    await agent.pty.exec_interactive({ conversation_id, command: "cat" });
    const { epoch } = await person.control.get({ sessionId });

    const after = await restart(signal);

    expect(await after.person.control.get({ sessionId })).toMatchObject({
      control_mode: "USER",
      holder: { kind: "person", id: "operator" },
      lease_expiry: null,
      reason: "restart",
      interactive: true,
      epoch: epoch + 1,
    });
    expect(await codeOf(after.agent.pty.send({ conversation_id, data: "evil\r" }))).toBe("control_refused");
    // What it had started goes on.
    expect((await after.person.pty.status({ conversation_id })).mode).toBe("interactive");
  },
);

test("[CTL-20] an agent that acquired control by itself has to acquire it again", async () => {
  const { conversation_id, sessionId, restart } = await begun();

  const { person, agent } = await restart("SIGKILL");
  const between = await person.control.get({ sessionId });
  const again = await agent.pty.exec_block({ conversation_id, command: "echo $X", wait_ms: 20_000 });

  expect(between).toMatchObject({ control_mode: "USER", holder: null, reason: "restart", interactive: false });
  expect(again.output).toBe("1\n");
  expect((await person.control.get({ sessionId })).epoch).toBe(between.epoch + 1);
});

test.each(SIGNALS)("[CTL-16, CTL-20] the hold of a person outlives a hub that was $how", async ({ signal }) => {
  const { conversation_id, sessionId, person, restart } = await begun();
  const before = await person.control.take({ sessionId });

  const after = await restart(signal);

  expect(await after.person.control.get({ sessionId })).toEqual(before);
  expect(await codeOf(after.agent.pty.exec_block({ conversation_id, command: "true" }))).toBe("control_refused");
});

test("[CTL-20, CTL-31] STOP_NOW outlives the hub, and its receipt is in the log", async () => {
  const { conversation_id, sessionId, person, agent, restart } = await begun();
  await agent.pty.exec_block({ conversation_id, command: "sleep 1000" });
  await person.control.user_intent({ sessionId, intent: "STOP_NOW" });

  const after = await restart("SIGKILL");

  expect(await after.person.control.get({ sessionId })).toMatchObject({
    user_intent: "STOP_NOW",
    control_mode: "USER",
  });
  expect(await codeOf(after.agent.pty.exec_block({ conversation_id, command: "true" }))).toBe("stopped");
  const receipts = await eventually(async () => {
    const found = await after.person.event.list({ sessionId, types: ["receipt"] });
    expect(found).toHaveLength(1);
    return found;
  });
  expect(receipts[0]?.payload).toMatchObject({ killed_count: 1, survivors: [] });
});

test("[CTL-20] a pending interrupt outlives the hub", async () => {
  const { sessionId, person, restart } = await begun();
  await person.control.grant({ sessionId, lease_seconds: 3600, attend: true });
  await person.control.user_intent({ sessionId, intent: "SAFE_INTERRUPT" });

  const after = await restart("SIGKILL");

  expect(await after.person.control.get({ sessionId })).toMatchObject({
    user_intent: "SAFE_INTERRUPT",
    control_mode: "USER",
  });
});

test("[CTL-17, CTL-26] without a hub a lease ends by itself, at its time", async () => {
  const { dataDir, hub, sessionId, person } = await begun();
  const { lease_expiry } = await person.control.grant({ sessionId, lease_seconds: 1, attend: true });
  await hub.kill("SIGKILL");
  await eventually(() => expect(Date.now()).toBeGreaterThan(Date.parse(lease_expiry ?? "") + 300));

  const after = await peopleOf(await spawnTestHub(dataDir, [], "terminal-hub"), dataDir);

  const handoffs = await after.person.event.list({ sessionId, types: ["control_handoff"] });
  expect(handoffs.at(-1)?.payload).toMatchObject({ reason: "lease_expired", control_mode: "USER" });
  expect(await after.person.control.get({ sessionId })).toMatchObject({ reason: "lease_expired" });
});

test("[CTL-3] what a new hub folds from the log is what the gate had said", async () => {
  const { conversation_id, sessionId, person, agent, restart } = await begun();
  await person.control.take({ sessionId });
  await agent.control.request({ sessionId, reason: "again" });
  await person.control.release({ sessionId, lease_seconds: 60, note: "yours" });
  await agent.pty.exec_block({ conversation_id, command: "true", wait_ms: 20_000 });
  await person.control.user_intent({ sessionId, intent: "SAFE_INTERRUPT" });
  await agent.control.safe_point({ sessionId, step: "s", sequence: 1 });
  const before = await person.control.get({ sessionId });

  const after = await restart("SIGKILL");

  expect(await after.person.control.get({ sessionId })).toEqual(before);
});
