import { expect, test } from "vitest";
import { codeOf } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { World } from "./world.ts";

test("[CTL-20] a link that breaks again while a session is taken up costs neither the session nor its control", async () => {
  const world = await World.open();
  const sessionId = await world.begin(true);
  const ann = world.client("ann");
  await ann.control.grant({ sessionId, lease_seconds: 60, agent_id: "bot" });

  world.proxy.keeps = true;
  world.proxy.cut();
  await eventually(() => expect(world.proxy.kept).toBe(1));
  world.proxy.cut();
  world.proxy.keeps = false;
  await world.online();

  await eventually(() => ann.control.take({ sessionId }));
  // The gate has answered; the record of it follows.
  await eventually(async () =>
    expect(await ann.session.get({ sessionId })).toMatchObject({ status: "active", controllerId: "ann" }),
  );
});

test("[CTL-20, CTL-42] before a returning host's session is taken up, its agent gets nothing in by a grant from before", async () => {
  const world = await World.open();
  const sessionId = await world.begin(true);
  await world.client("ann").control.grant({ sessionId, lease_seconds: 60, agent_id: "bot" });
  await world.client("bot").session.input({ sessionId, data: "x" });
  const before = world.session(sessionId).referee.agentBytes;

  await world.restartBeforeHost();
  const point = await world.client("bot").control.safe_point({ sessionId, step: "s", sequence: 1 });
  world.proxy.cut();
  await eventually(() => expect(world.proxy.kept).toBe(1));
  const typed = [1, 2].map(() => codeOf(world.client("bot").session.input({ sessionId, data: "x" })));
  world.takeUp();

  expect(point).toMatchObject({ action: "STOP", control: { reason: "restart" } });
  expect(await Promise.all(typed)).toEqual(["control_refused", "control_refused"]);
  expect(world.session(sessionId).referee.agentBytes).toBe(before);
});

test("[CTL-42] a person's key waits until the session is taken up and is typed once, their take doesn't wait", async () => {
  const world = await World.open();
  const sessionId = await world.begin(true);
  const ann = world.client("ann");
  await ann.session.input({ sessionId, data: "x" });
  await ann.control.grant({ sessionId, lease_seconds: 60, agent_id: "bot" });

  await world.restartBeforeHost();
  const person = world.client("ben");
  const typed = person.session.input({ sessionId, data: "x" });
  const taken = await person.control.take({ sessionId });
  world.takeUp();

  expect(taken).toMatchObject({ control_mode: "USER", holder: { id: "ben" } });
  await typed;
  const inputs = await eventually(async () => {
    const found = await person.event.list({ sessionId, types: ["input"] });
    expect(found).toHaveLength(2);
    return found;
  });
  expect(inputs.map((it) => it.source.id)).toEqual(["ann", "ben"]);
});

test("[CTL-7, CTL-29] a person's key that came to the gate first keeps an agent from closing its session", async () => {
  const world = await World.open();
  const { sessionId } = await world.client("bot").session.create({ kind: "terminal", title: "its own" });
  await world.client("bot").session.input({ sessionId, data: "x" });

  world.proxy.keeps = true;
  const typed = world.client("ann").session.input({ sessionId, data: "x" });
  await eventually(() => expect(world.proxy.kept).toBe(1));
  const closing = codeOf(world.client("bot").session.close({ sessionId }));
  await eventually(() => expect(world.proxy.kept).toBe(2));
  world.proxy.pass(0, false);
  await typed;
  await world.calm();

  expect(await closing).toBe("control_refused");
  expect((await world.client("ann").session.get({ sessionId })).status).toBe("active");
});

test("[CTL-6, CTL-19] who comes while the gate is told that the last viewer left is there", async () => {
  const world = await World.open();
  const sessionId = await world.begin(false);
  const { stick } = world.session(sessionId);
  const first = await world.attach(sessionId, true);
  await eventually(() => expect(stick.state.attended).toBe(true));

  world.proxy.keeps = true;
  first.socket.terminate();
  await eventually(() => expect(world.proxy.kept).toBe(1));
  await world.attach(sessionId, true);
  await world.calm();

  const { interactive } = await eventually(async () => {
    const items = await world.client("ann").event.list({ sessionId, limit: 100 });
    expect(items.filter((it) => it.type === "control_handoff")).toHaveLength(3);
    return world.client("ann").control.get({ sessionId });
  });
  expect([interactive, stick.state.attended]).toEqual([true, true]);
  await world.ask(world.client("bot").session.input({ sessionId, data: "x" }));
  expect(world.session(sessionId).referee.agentBytes).toBe(0);
});

test("[CTL-19] as long as the last viewer who left is counted, an agent is refused", async () => {
  const world = await World.open(3_600_000);
  const sessionId = await world.begin(false);
  const viewer = await world.attach(sessionId, true);

  viewer.send({ type: "detach", sessionId });
  // Answered in turn: it has left then.
  viewer.send({ type: "attach", sessionId, from: 0, input: false });
  await eventually(() => expect(viewer.frames.filter((it) => it.type === "attached")).toHaveLength(2));

  const input = world.client("bot").session.input({ sessionId, data: "x" });
  await expect(input).rejects.toMatchObject({ code: "control_refused" });
});
