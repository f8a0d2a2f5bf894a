import { expect, test } from "vitest";
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
