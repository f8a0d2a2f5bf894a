/** The SDK's step runner against a real hub, host and shell. */
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { ControlWatch } from "../../src/client/control-watch.ts";
import { Runner, RunnerStopped, type RunnerOptions, SidestickClient, type Step } from "../../src/client/sidestick.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { patience } from "../../tools/suite/patience.ts";
import { eventually } from "../support/eventually.ts";
import { tokenOf } from "../support/hub.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";

let hub: TerminalHub;
let other: SidestickClient;
beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  other = new SidestickClient({ url: hub.url, token: await tokenOf(hub.dataDir, "agent", "other") });
  return opened.stop;
});

let made = 0;
const conversation = (): string => `runner-${(made += 1)}`;

function runnerOf(options: RunnerOptions, client = hub.agent): Runner {
  const runner = new Runner(client, options);
  onTestFinished(() => runner.close());
  return runner;
}

const said = async ({ pty }: Step, text: string): Promise<string | undefined> =>
  (await pty.exec_block({ command: `echo ${text}`, wait_ms: WAIT_BUDGET_MS })).output;

const reasonOf = (step: Promise<unknown>): Promise<string> =>
  step.then(
    () => "done",
    (error: unknown) => (error instanceof RunnerStopped ? error.reason : String(error)),
  );

/** Runs until its signal is aborted. */
function waitingStep(runner: Runner): { readonly begun: Promise<void>; readonly ended: Promise<string> } {
  const begun = Promise.withResolvers<void>();
  const step = runner.step("long", ({ signal }) => {
    begun.resolve();
    return new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    });
  });
  return { begun: begun.promise, ended: reasonOf(step) };
}

const eventsOf = (sessionId: string, type: "safe_point" | "control_handoff") =>
  hub.person.event.list({ sessionId, types: [type] });

async function attended(): Promise<{ readonly sessionId: string; readonly conversationId: string }> {
  const conversationId = conversation();
  const { sessionId } = await hub.agent.session.create({ kind: "terminal", conversationId, interactive: true });
  return { sessionId, conversationId };
}

test("[CTL-40] each step comes after a safe point and answers what its body does; close gives control up", async () => {
  const conversationId = conversation();
  const runner = runnerOf({ conversationId });

  const outputs = [
    await runner.step("one", (step) => said(step, "first")),
    await runner.step("two", (step) => said(step, "second")),
  ];
  await expect(runner.step("three", () => Promise.reject(new Error("mine")))).rejects.toThrow("mine");
  await runner.close();

  expect(outputs).toEqual(["first\n", "second\n"]);
  const [session] = await hub.person.session.list({ conversationId });
  const points = await eventsOf(session!.sessionId, "safe_point");
  expect(points.map(({ payload: { step, sequence, action } }) => [step, sequence, action])).toEqual([
    ["one", 1, "CONTINUE"],
    ["two", 2, "CONTINUE"],
    ["three", 3, "CONTINUE"],
  ]);
  const state = await hub.person.control.get({ sessionId: session!.sessionId });
  expect(state).toMatchObject({ control_mode: "USER", holder: null, reason: "released" });
  await expect(runner.step("four", () => Promise.resolve())).rejects.toThrow(RunnerStopped);
});

test("[CTL-40] an interrupt lets the running step finish; the next waits, and begins with what changed and the note", async () => {
  const conversationId = conversation();
  const runner = runnerOf({ conversationId });
  const begun = Promise.withResolvers<string>();
  const goOn = Promise.withResolvers<void>();
  const first = runner.step("first", async ({ pty, signal }) => {
    const { workspace_session_id } = await pty.exec_block({ command: "true", wait_ms: WAIT_BUDGET_MS });
    begun.resolve(workspace_session_id);
    await goOn.promise;
    return signal.aborted;
  });
  const sessionId = await begun.promise;

  await hub.person.control.user_intent({ sessionId, intent: "SAFE_INTERRUPT" });
  goOn.resolve();
  expect(await first).toBe(false);
  const second = runner.step("second", async (step) => ({ ...step, output: await said(step, "again") }));
  await eventually(async () =>
    expect(await hub.person.control.get({ sessionId })).toMatchObject({ agent_status: "PAUSED", control_mode: "USER" }),
  );
  await hub.person.pty.exec_block({ conversation_id: conversationId, command: "echo person", wait_ms: WAIT_BUDGET_MS });
  await hub.person.control.release({ sessionId, lease_seconds: 60, note: "fixed it" });

  const { changed, note, output, sequence } = await second;
  expect({ note, output, sequence }).toEqual({ note: "fixed it", output: "again\n", sequence: 2 });
  expect(changed?.blocks).toMatchObject([{ command: "echo person", exit_code: 0 }]);
  expect(await runner.step("third", async (step) => [step.changed, step.note])).toEqual([undefined, undefined]);
});

test("[CTL-40] a pause goes on, too, when the person releases control to nobody", async () => {
  const { sessionId } = await hub.agent.session.create({ kind: "terminal", conversationId: conversation() });
  const runner = runnerOf({ sessionId });
  await runner.step("first", () => Promise.resolve());
  await hub.person.control.user_intent({ sessionId, intent: "SAFE_INTERRUPT" });
  const second = runner.step("second", async ({ note }) => note);
  await eventually(async () =>
    expect(await hub.person.control.get({ sessionId })).toMatchObject({ agent_status: "PAUSED" }),
  );

  await hub.person.control.release({ sessionId, note: "go on" });

  expect(await second).toBe("go on");
});

test("[CTL-40] a stop aborts the running step and its calls; the next one may not begin", async () => {
  const conversationId = conversation();
  const runner = runnerOf({ conversationId });
  const begun = Promise.withResolvers<string>();
  const step = reasonOf(
    runner.step("long", async ({ pty }) => {
      const { workspace_session_id } = await pty.exec_block({ command: "sleep 1000", wait_ms: 0 });
      begun.resolve(workspace_session_id);
      await pty.wait_for({ match: "PROMPT", timeout_ms: WAIT_BUDGET_MS });
      await pty.exec_block({ command: "echo never", wait_ms: WAIT_BUDGET_MS });
    }),
  );
  const sessionId = await begun.promise;

  await hub.person.control.user_intent({ sessionId, intent: "STOP_NOW" });

  expect(await step).toBe("stop_now");
  expect(await reasonOf(runner.step("next", () => Promise.resolve()))).toBe("stop_now");
  const { blocks } = await hub.person.pty.blocks({ conversation_id: conversationId });
  expect(blocks.map((it) => it.command)).toEqual(["sleep 1000"]);
});

test.each([
  { how: "a key", reason: "user_input_override" },
  { how: "a take", reason: "taken" },
  { how: "the end of the session", reason: "closed" },
] as const)("[CTL-40] $how aborts a step that waits for something else", async ({ reason }) => {
  const { sessionId } = await hub.agent.session.create({ kind: "terminal", conversationId: conversation() });
  const runner = runnerOf({ sessionId });
  const { begun, ended } = waitingStep(runner);
  await begun;

  if (reason === "taken") await hub.person.control.take({ sessionId });
  else if (reason === "closed") await hub.person.session.close({ sessionId });
  else await hub.person.session.input({ sessionId, data: "x" });

  expect(await ended).toBe(reason);
});

test("[CTL-40] what was lost between the safe point and the step is heard by the step, and nothing from before it", async () => {
  const { sessionId } = await attended();
  const grant = { sessionId, lease_seconds: 60 };
  const driven = await hub.person.control.grant(grant);
  const watch = new ControlWatch(hub.agent, sessionId, 0);
  onTestFinished(() => watch.close());
  const heard = watch.stopped(driven);
  await hub.person.control.user_intent({ sessionId, intent: "STOP_NOW" });
  await eventually(() => expect(heard.signal.aborted).toBe(true));

  const late = [watch.lost(driven), watch.stopped(driven)];
  const again = await hub.person.control.grant(grant);
  const fresh = [watch.lost(again), watch.stopped(again)];

  expect(late.map((it) => (it.signal.reason as RunnerStopped).reason)).toEqual(["stop_now", "stop_now"]);
  expect(fresh.map((it) => it.signal.aborted)).toEqual([false, false]);
});

test("[CTL-40] while a step runs its lease is renewed again and again, and not between steps", async () => {
  const { sessionId } = await attended();
  await hub.person.control.grant({ sessionId, lease_seconds: Math.ceil(3 * patience()) });
  const runner = runnerOf({ sessionId });
  const renewals = async (): Promise<number> =>
    (await eventsOf(sessionId, "control_handoff")).filter(({ payload }) => payload["change"] === "renewed").length;

  const output = await runner.step("long", async (step) => {
    await eventually(async () => expect(await renewals()).toBeGreaterThanOrEqual(2));
    return said(step, "still here");
  });
  const after = await renewals();
  await eventually(async () =>
    expect(await hub.person.control.get({ sessionId })).toMatchObject({ reason: "lease_expired" }),
  );

  expect(output).toBe("still here\n");
  expect(await renewals()).toBe(after);
  expect(await reasonOf(runner.step("late", () => Promise.resolve()))).toBe("lease_expired");
});

test("[CTL-40] in a person's session a runner begins by a grant only, for which it can ask", async () => {
  const { sessionId, conversationId } = await attended();
  const runner = runnerOf({ conversationId, leaseSeconds: 120 });
  const asked = (): Promise<void> =>
    eventually(async () =>
      expect((await hub.person.control.get({ sessionId })).requested_by).toMatchObject({ reason: "to test" }),
    );

  expect(await reasonOf(runner.step("early", () => Promise.resolve()))).toBe("not_granted");
  const refused = reasonOf(runner.request("to test"));
  await asked();
  await hub.person.control.decline({ sessionId });
  expect(await refused).toBe("declined");
  const granted = runner.request("to test");
  await asked();
  await hub.person.control.grant({ sessionId, lease_seconds: 60 });
  await granted;

  expect(await runner.step("granted", (step) => said(step, "now"))).toBe("now\n");
  expect(await hub.person.control.get({ sessionId })).toMatchObject({ lease_seconds: 120 });
});

test("[CTL-40] of two runners in a granted session one drives; in an unattended one the later takes over", async () => {
  const { sessionId } = await attended();
  await hub.person.control.grant({ sessionId, lease_seconds: 60, agent_id: "other" });
  const free = await hub.agent.session.create({ kind: "terminal", conversationId: conversation() });

  const granted = await runnerOf({ sessionId }, other).step("its", (step) => said(step, "other"));
  const refused = await reasonOf(runnerOf({ sessionId }).step("ours", () => Promise.resolve()));
  const first = waitingStep(runnerOf({ sessionId: free.sessionId }));
  await first.begun;
  await runnerOf({ sessionId: free.sessionId }, other).step("second", () => Promise.resolve());

  expect([granted, refused, await first.ended]).toEqual(["other\n", "granted", "granted"]);
});

test("[CTL-40] close ends the running step; two steps at once are a mistake", async () => {
  const runner = runnerOf({ conversationId: conversation() });
  const { begun, ended } = waitingStep(runner);
  await begun;

  await expect(runner.step("beside", () => Promise.resolve())).rejects.toThrow("before the one before it is over");
  await runner.close();

  expect(await ended).toBe("closed");
});
