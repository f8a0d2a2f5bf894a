/** Whoever looks at a session: viewers that watch, that can type, and that are gone. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { codeOf, ControlHub } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { tokenOf } from "../support/hub.ts";

const GRACE_MS = 700;
const HEARTBEAT = { everyMs: 50, deadAfterMs: 1_000 };

let house: ControlHub;
beforeAll(async () => {
  house = await ControlHub.open({ graceMs: GRACE_MS, heartbeat: HEARTBEAT });
  return house.stop;
});

const run = (conversation_id: string, command: string) => ({ conversation_id, command, wait_ms: WAIT_BUDGET_MS });

test("[CTL-18] a viewer that watches changes nothing", async () => {
  const { conversation_id, sessionId } = await house.driven();
  const before = await house.control(sessionId);

  await house.viewer(sessionId, { input: false });

  expect(await codeOf(house.agent.pty.exec_block(run(conversation_id, "true")))).toBe("ok");
  expect(await house.control(sessionId)).toEqual(before);
});

test("[CTL-6, CTL-18] one that can type revokes an agent that nobody let drive, and its programs run on", async () => {
  const { conversation_id, sessionId } = await house.driven();
  await house.agent.pty.exec_interactive({ conversation_id, command: "cat" });
  const waiting = house.agent.pty.wait_for({ conversation_id, match: "never", timeout_ms: WAIT_BUDGET_MS });

  await house.viewer(sessionId, { input: true });

  expect(await waiting).toMatchObject({ reason: "revoked", control_reason: "viewer_attached" });
  expect(await house.control(sessionId)).toMatchObject({ interactive: true, control_mode: "USER", holder: null });
  expect((await house.person.pty.status({ conversation_id })).mode).toBe("interactive");
});

test("[CTL-18] a person's grant stands when somebody attaches", async () => {
  const { conversation_id, sessionId } = await house.granted();
  const before = await house.control(sessionId);

  await house.viewer(sessionId, { input: true });
  await eventually(async () =>
    expect((await house.events(sessionId, ["control_handoff"])).at(-1)?.payload["change"]).toBe("attended"),
  );

  expect(await house.control(sessionId)).toEqual(before);
  expect(await codeOf(house.agent.pty.exec_block(run(conversation_id, "true")))).toBe("ok");
});

test("[CTL-18] with `on_viewer: safe_interrupt` the agent finishes its step and pauses", async () => {
  const workspaceId = "gentle";
  await house.person.workspace.put({ workspaceId, settings: { containment: "open", on_viewer: "safe_interrupt" } });
  const { conversation_id, sessionId } = await house.driven({ workspaceId });

  await house.viewer(sessionId, { input: true });
  await eventually(async () => expect((await house.control(sessionId)).user_intent).toBe("SAFE_INTERRUPT"));
  const between = await house.control(sessionId);
  const next = await codeOf(house.agent.pty.exec_block(run(conversation_id, "true")));

  expect(between).toMatchObject({ control_mode: "AGENT", interactive: true });
  expect(next).toBe("paused");
  expect(await house.control(sessionId)).toMatchObject({ control_mode: "USER", agent_status: "PAUSED" });
});

test("[CTL-6] with `interactive_when: viewer` whoever watches counts", async () => {
  const workspaceId = "watched";
  await house.person.workspace.put({ workspaceId, settings: { containment: "open", interactive_when: "viewer" } });
  const { sessionId } = await house.driven({ workspaceId });

  await house.viewer(sessionId, { input: false });

  await eventually(async () =>
    expect(await house.control(sessionId)).toMatchObject({ interactive: true, reason: "viewer_attached" }),
  );
});

test("[CTL-18] a watcher's first key attaches and takes control", async () => {
  const { sessionId } = await house.driven();
  const viewer = await house.viewer(sessionId, { input: false });

  viewer.send({ type: "input", sessionId, keys: ["Down"] });

  await eventually(async () =>
    expect((await house.events(sessionId, ["control_handoff"])).at(-1)?.payload).toMatchObject({ attended: true }),
  );
  expect(await house.control(sessionId)).toMatchObject({ reason: "user_input_override", interactive: true });
});

test("[CTL-19] when the last one is gone the session stays interactive for a while, and its end grants nothing", async () => {
  const { conversation_id, sessionId } = await house.driven();
  const [first, second] = [
    await house.viewer(sessionId, { input: true }),
    await house.viewer(sessionId, { input: true }),
  ];
  await eventually(async () => expect((await house.control(sessionId)).interactive).toBe(true));
  first.socket.close();
  await once(first.socket, "close");
  const left = performance.now();
  second.send({ type: "detach", sessionId });

  await eventually(async () => expect((await house.control(sessionId)).interactive).toBe(false));

  expect(performance.now() - left).toBeGreaterThanOrEqual(GRACE_MS - 50);
  expect(await house.control(sessionId)).toMatchObject({ control_mode: "USER", holder: null });
  // Nobody attends and nobody holds: now it may acquire, by its own next act.
  expect(await codeOf(house.agent.pty.exec_block(run(conversation_id, "true")))).toBe("ok");
});

test("[CTL-19] who comes back in time was never away", async () => {
  const { sessionId } = await house.driven();
  const viewer = await house.viewer(sessionId, { input: true });
  await eventually(async () => expect((await house.control(sessionId)).interactive).toBe(true));

  viewer.send({ type: "detach", sessionId });
  viewer.send({ type: "attach", sessionId, from: 0, input: true });
  await eventually(() => expect(viewer.frames.filter((it) => it.type === "attached")).toHaveLength(2));

  const changes = (await house.events(sessionId, ["control_handoff"])).map((it) => it.payload["change"]);
  expect(changes).not.toContain("left");
});

test("[CTL-16, CTL-19] the hold of a person who typed outlives the viewer", async () => {
  const { conversation_id, sessionId } = await house.driven();
  const viewer = await house.viewer(sessionId, { input: true });
  viewer.send({ type: "input", sessionId, keys: ["Down"] });
  await eventually(async () => expect((await house.control(sessionId)).reason).toBe("user_input_override"));

  viewer.socket.terminate();
  await eventually(async () =>
    expect((await house.events(sessionId, ["control_handoff"])).at(-1)?.payload["change"]).toBe("left"),
  );

  expect(await house.control(sessionId)).toMatchObject({ interactive: true, control_mode: "USER" });
  expect(await codeOf(house.agent.pty.exec_block(run(conversation_id, "true")))).toBe("control_refused");
});

test("[CTL-19] a hub that stood still itself takes nobody for gone", async () => {
  const { sessionId } = await house.driven();
  const viewer = await house.viewer(sessionId, { input: true });
  let beats = 0;
  viewer.socket.on("ping", () => (beats += 1));

  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, HEARTBEAT.deadAfterMs + 200);
  await eventually(() => expect(beats).toBeGreaterThan(2));

  expect(viewer.closedAt).toBe(0);
});

/** Attaches with input, says so, and then does nothing for ever. */
const VIEWER = `
  const { WebSocket } = require("ws");
  const [url, token, sessionId] = process.argv.slice(1);
  const socket = new WebSocket(url, ["sidestick.v1"], { headers: { authorization: "Bearer " + token } });
  socket.on("open", () => socket.send(JSON.stringify({ type: "attach", sessionId, from: 0, input: true })));
  socket.on("message", (data) => String(data).includes('"attached"') && console.log("attached"));
`;

test.each([
  { how: "killed", signal: "SIGKILL" },
  { how: "frozen, so that its socket stays open", signal: "SIGSTOP" },
] as const)("[CTL-19] a viewer that is $how is noticed", async ({ signal }) => {
  const { sessionId } = await house.driven();
  const token = await tokenOf(house.hub.dataDir, "operator", "ann");
  const url = `${house.hub.url.replace("http", "ws")}/stream`;
  const viewer = spawn(process.execPath, ["-e", VIEWER, url, token, sessionId], {
    cwd: import.meta.dirname,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    const exited = viewer.exitCode === null && viewer.signalCode === null ? once(viewer, "exit") : undefined;
    viewer.kill("SIGKILL");
    await exited;
  });
  await once(viewer.stdout, "data");
  await eventually(async () => expect((await house.control(sessionId)).interactive).toBe(true));

  viewer.kill(signal);

  await eventually(async () => expect((await house.control(sessionId)).interactive).toBe(false));
  expect(await house.control(sessionId)).toMatchObject({ control_mode: "USER", holder: null });
});

test("[CTL-18] an agent at a stream is nobody who attends", async () => {
  const { conversation_id, sessionId } = await house.driven();
  const stream = house.agent.stream();
  onTestFinished(() => stream.close());

  await new Promise((resolve) => {
    stream.attach(sessionId, { from: 0, input: true, onAttached: resolve, onOutput: () => undefined });
  });

  expect(await codeOf(house.agent.pty.exec_block(run(conversation_id, "true")))).toBe("ok");
  expect((await house.control(sessionId)).interactive).toBe(false);
});
