/** Seed 000's integration tests by name, against a real hub, host and shell. A WebSocket viewer stands for VNC. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { codeOf, ControlHub } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";

let house: ControlHub;
beforeAll(async () => {
  house = await ControlHub.open();
  return house.stop;
});

test("[CTL-5, CTL-6] Interactive session + viewer + agent without grant → denied", async () => {
  const { conversation_id, sessionId } = await house.driven();
  await house.viewer(sessionId, { input: true });
  await eventually(async () => expect((await house.control(sessionId)).control_mode).toBe("USER"));

  const denied = [
    await codeOf(house.agent.pty.exec_block({ conversation_id, command: "touch evil" })),
    await codeOf(house.agent.pty.send({ conversation_id, data: "touch evil\r" })),
    await codeOf(house.agent.pty.ctrl_c({ conversation_id })),
    await codeOf(house.agent.session.input({ sessionId, data: "touch evil\r" })),
    await codeOf(house.agent.pty.reset({ conversation_id })),
    await codeOf(house.agent.control.renew({ sessionId })),
  ];
  const asked = await house.agent.control.request({ sessionId, reason: "to go on" });
  const point = await house.agent.control.safe_point({ sessionId, step: "next", sequence: 1 });

  expect(denied).toEqual(denied.map(() => "control_refused"));
  expect(asked).toMatchObject({ control_mode: "USER", requested_by: { agent_id: "agent", reason: "to go on" } });
  expect(point.action).toBe("STOP");
  expect(await house.control(sessionId)).toMatchObject({ interactive: true, control_mode: "USER", holder: null });
  expect((await house.person.pty.blocks({ conversation_id })).blocks.map((it) => it.command)).toEqual(["true"]);
});

test("[CTL-14, CTL-33] User input interrupts agent instantly", async () => {
  const { conversation_id, sessionId } = await house.granted();
  const before = await house.control(sessionId);
  await house.agent.pty.exec_interactive({ conversation_id, command: "cat" });
  await house.agent.pty.wait_for({ conversation_id, match: "INPUT" });
  const waiting = house.agent.pty.wait_for({ conversation_id, match: "never", timeout_ms: WAIT_BUDGET_MS });
  const viewer = await house.viewer(sessionId, { input: true });

  viewer.send({ type: "input", sessionId, data: "mine\r" });

  expect(await waiting).toMatchObject({
    matched: false,
    reason: "revoked",
    control_reason: "user_input_override",
    epoch: before.epoch + 1,
  });
  expect(await codeOf(house.agent.pty.send({ conversation_id, data: "late\r" }))).toBe("control_refused");
  await eventually(() => expect(viewer.bytes().toString()).toContain("mine\r\nmine\r\n"));
  expect(viewer.bytes().toString()).not.toContain("late");
  const events = await house.events(sessionId, ["control_handoff", "input"]);
  const override = events.findIndex((it) => it.payload["reason"] === "user_input_override");
  expect(events[override + 1]).toMatchObject({ type: "input", source: { kind: "person" } });
  expect(await house.control(sessionId)).toMatchObject({
    control_mode: "USER",
    holder: { kind: "person", id: "viewer" },
    agent_status: "STOPPED",
    lease_expiry: null,
  });
});

test("[CTL-28, CTL-29] SAFE_INTERRUPT pauses cleanly", async () => {
  const { conversation_id, sessionId } = await house.granted();
  const { epoch } = await house.control(sessionId);
  const running = house.agent.pty.exec_block({
    conversation_id,
    command: "read x; echo done-$x",
    wait_ms: WAIT_BUDGET_MS,
  });
  const asks = await house.agent.pty.wait_for({ conversation_id, match: "INPUT" });
  expect(await running).toMatchObject({ waiting: { kind: "line" } });

  const interrupted = await house.person.control.user_intent({ sessionId, intent: "SAFE_INTERRUPT" });
  const point = await house.agent.control.safe_point({ sessionId, step: "after the question", sequence: 7 });

  expect(interrupted).toMatchObject({ control_mode: "AGENT", user_intent: "SAFE_INTERRUPT", epoch });
  expect(point).toMatchObject({ action: "PAUSE", step: "after the question", sequence: 7 });
  expect(point.control).toMatchObject({
    control_mode: "USER",
    agent_status: "PAUSED",
    holder: { kind: "person", id: "operator" },
    epoch: epoch + 1,
  });
  const late = house.agent.pty.send({ conversation_id, data: "late\r", if_prompt: asks.prompt_id });
  expect(await codeOf(late)).toBe("paused");
  // The program was not harmed: the person goes on with it.
  await house.person.pty.send({ conversation_id, data: "mine\r" });
  const done = await house.person.pty.wait_for({ conversation_id, match: "done-mine" });
  expect(done.matched).toBe(true);
});

test("[CTL-29] without a safe point of its own the agent's next input is one, and its waits are none", async () => {
  const { conversation_id, sessionId } = await house.granted();
  const go = join(await temporaryDirectory(), "go");
  const command = `until [ -e ${go} ]; do sleep 0.05; done; echo step`;
  await house.agent.pty.exec_block({ conversation_id, command, wait_ms: 0 });
  await house.person.control.user_intent({ sessionId, intent: "SAFE_INTERRUPT" });
  await writeFile(go, "");

  const step = await house.agent.pty.wait_for({ conversation_id, match: "PROMPT" });
  const between = await house.control(sessionId);
  const next = await codeOf(house.agent.pty.exec_block({ conversation_id, command: "echo next" }));

  expect(step).toMatchObject({ matched: true, exit_code: 0 });
  expect(between).toMatchObject({ control_mode: "AGENT" });
  expect(next).toBe("paused");
  expect(await house.control(sessionId)).toMatchObject({ control_mode: "USER", agent_status: "PAUSED" });
});

test("[CTL-2, CTL-4, CTL-31, CTL-32] STOP_NOW halts automation (needs perl)", async () => {
  const { conversation_id, sessionId } = await house.granted();
  const marker = `${house.hub.dataDir}/evil`;
  const { epoch } = await house.control(sessionId);
  const file = join(await temporaryDirectory(), "file");
  await writeFile(file, "followed\n");
  // It says itself that it is there to be killed.
  const command = `tail -f ${file}; touch ${marker}`;
  const ended = codeOf(house.agent.pty.exec_block({ conversation_id, command, wait_ms: WAIT_BUDGET_MS }));
  await house.person.pty.wait_for({ conversation_id, match: "followed\n", from_cursor: 0, timeout_ms: WAIT_BUDGET_MS });

  const stopped = await house.person.control.user_intent({ sessionId, intent: "STOP_NOW" });

  expect(stopped).toMatchObject({
    control_mode: "USER",
    user_intent: "STOP_NOW",
    agent_status: "STOPPING",
    epoch: epoch + 1,
    holder: { kind: "person", id: "operator" },
  });
  expect(await ended).toBe("stopped");
  const { payload } = await house.receipt(sessionId);
  expect(payload).toMatchObject({
    killed_count: 1,
    killed: [{ program: "tail" }],
    survivors: [],
    respawned: false,
    kill_scope: "agent",
    containment: "subreaper",
    dropped_inputs: 0,
  });
  expect(await codeOf(house.agent.pty.exec_block({ conversation_id, command: `touch ${marker}` }))).toBe("stopped");
  expect(await house.control(sessionId)).toMatchObject({ agent_status: "STOPPED", user_intent: "STOP_NOW" });
  const mine = await house.person.pty.exec_block({
    conversation_id,
    command: `ls ${marker}; echo me`,
    wait_ms: WAIT_BUDGET_MS,
  });
  // A shell that saw its job stand still, before it was killed, tells of its end once more.
  expect(mine.output).toMatch(/No such file[^\n]*\n(\[1\]\+ +Killed +tail [^\n]*\n)?me\n$/);
});
