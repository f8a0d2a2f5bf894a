/** Losing control: overrides, stops, releases, and what changes nothing. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { codeOf, ControlHub } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";

let house: ControlHub;
beforeAll(async () => {
  house = await ControlHub.open();
  return house.stop;
});

const run = (conversation_id: string, command: string) => ({ conversation_id, command, wait_ms: WAIT_BUDGET_MS });

describe("a person's input", () => {
  test.each([
    {
      door: "POST /sessions/{id}/input",
      type: (id: string) => house.person.session.input({ sessionId: id, data: "x" }),
    },
    { door: "a viewer's key", type: async (id: string) => (await house.viewer(id, { input: false })).send(key(id)) },
    {
      door: "pty.send",
      type: async (id: string) => {
        const { conversationId } = await house.person.session.get({ sessionId: id });
        await house.person.pty.send({ conversation_id: conversationId ?? "", data: "x" });
      },
    },
  ])("[CTL-14, CTL-33] by $door takes control, and every call of the agent ends", async ({ type }) => {
    const { conversation_id, sessionId } = await house.granted();
    const { epoch } = await house.control(sessionId);
    const block = house.agent.pty.exec_block({ conversation_id, command: "sleep 30", wait_ms: WAIT_BUDGET_MS });
    const ended = block.catch((error: unknown) => error);
    await eventually(async () => expect((await house.control(sessionId)).agent_status).toBe("RUNNING"));
    const expecting = house.agent.pty.expect_send({ conversation_id, match: "never", data: "evil\r" });
    const waiting = house.agent.pty.wait_for({ conversation_id, match: "PROMPT", timeout_ms: WAIT_BUDGET_MS });

    await type(sessionId);

    const lost = { control_reason: "user_input_override", epoch: epoch + 1 };
    expect(await ended).toMatchObject({ code: "revoked", details: lost });
    expect(await expecting).toMatchObject({ matched: false, sent: false, reason: "revoked", ...lost });
    expect(await waiting).toMatchObject({ matched: false, reason: "revoked", ...lost });
    // Programs run on: a person who types has not stopped anything.
    expect((await house.person.pty.status({ conversation_id })).mode).toBe("block_running");
  });

  test("[CTL-14, CTL-22] what the agent has typed and nobody has read yet is gone before the person's bytes", async () => {
    const { conversation_id, sessionId } = await house.granted();
    const go = join(await temporaryDirectory(), "go");
    const command = `until [ -e ${go} ]; do sleep 0.05; done; cat`;
    await house.agent.pty.exec_interactive({ conversation_id, command });
    await house.agent.pty.send({ conversation_id, data: "echo agents\r" });
    await house.person.pty.wait_for({ conversation_id, match: "echo agents", from_cursor: 0 });

    await house.person.session.input({ sessionId, data: "persons\r" });
    await writeFile(go, "");

    const seen = await house.person.pty.wait_for({ conversation_id, match: "persons\npersons\n", from_cursor: 0 });
    expect(seen.matched).toBe(true);
    const { data } = await house.person.pty.read_output({ conversation_id, from_cursor: 0 });
    // The kernel echoed it once; cat never read it.
    expect(data.match(/echo agents/g)).toHaveLength(1);
  });

  test.each([
    { how: "takes control", end: "revoked", act: (id: string) => house.person.control.take({ sessionId: id }) },
    {
      how: "stops the agent",
      end: "stopped",
      act: (id: string) => house.person.control.user_intent({ sessionId: id, intent: "STOP_NOW" }),
    },
  ])("[CTL-33, CTL-41] an agent's end_session ends when a person $how", async ({ act, end }) => {
    const { conversation_id, sessionId } = await house.granted();
    const { epoch } = await house.control(sessionId);
    const command = `sh -c 'trap "" INT; echo on; sleep 1000'`;
    const { cursor } = await house.agent.pty.exec_interactive({ conversation_id, command });
    await house.agent.pty.wait_for({ conversation_id, match: "on\n", from_cursor: cursor });
    const ending = house.agent.pty.end_session({ conversation_id }).catch((error: unknown) => error);
    await eventually(async () => expect(await house.events(sessionId, ["log_line"])).toHaveLength(1));

    await act(sessionId);

    expect(await ending).toMatchObject({ code: end, details: { epoch: epoch + 1 } });
  });

  test("[CTL-33, CTL-41] also when it had acquired control by that call", async () => {
    const { conversation_id, sessionId } = await house.driven();
    const command = `sh -c 'trap "" INT; echo on; sleep 1000'`;
    const { cursor } = await house.agent.pty.exec_interactive({ conversation_id, command });
    await house.agent.pty.wait_for({ conversation_id, match: "on\n", from_cursor: cursor });
    await house.agent.control.release({ sessionId });
    const ending = house.agent.pty.end_session({ conversation_id }).catch((error: unknown) => error);
    await eventually(async () => expect(await house.events(sessionId, ["log_line"])).toHaveLength(1));

    await house.person.control.take({ sessionId });

    expect(await ending).toMatchObject({ code: "revoked", details: { control_reason: "taken" } });
    expect((await house.person.pty.status({ conversation_id })).mode).toBe("interactive");
  });

  test("[CTL-16, CTL-25] the hold lasts, whoever asks, and agents are refused and not queued", async () => {
    const { conversation_id, sessionId } = await house.driven();
    await house.person.session.input({ sessionId, data: "\r" });

    expect(await codeOf(house.agent.pty.exec_block(run(conversation_id, "touch evil")))).toBe("control_refused");
    expect(await codeOf(house.otherAgent.pty.exec_block(run(conversation_id, "touch evil")))).toBe("control_refused");
    expect(await house.agent.control.request({ sessionId, reason: "x" })).toMatchObject({ control_mode: "USER" });
    await house.person.control.release({ sessionId });

    // The shell may not have read the person's Enter yet.
    const after = await eventually(() => house.agent.pty.exec_block(run(conversation_id, "echo clean")));
    expect(after.output).toBe("clean\n");
    const { blocks } = await house.person.pty.blocks({ conversation_id });
    expect(blocks.map((it) => it.command)).toEqual(["true", "echo clean"]);
  });
});

describe("what is no override", () => {
  test("[CTL-15] a person's answer to a named prompt changes neither holder nor epoch", async () => {
    const { conversation_id, sessionId } = await house.granted();
    await house.agent.pty.exec_interactive({ conversation_id, command: "read -s p; read q; echo $p-$q" });
    const password = await house.agent.pty.wait_for({ conversation_id, match: "INPUT" });
    const before = await house.control(sessionId);
    const waiting = house.agent.pty.wait_for({ conversation_id, match: "-mine", timeout_ms: WAIT_BUDGET_MS });

    await house.person.pty.send({ conversation_id, data: "hunter2\r", if_prompt: password.prompt_id });
    const again = house.person.pty.send({ conversation_id, data: "hunter2\r", if_prompt: password.prompt_id });
    expect(await codeOf(again)).toBe("prompt_gone");
    const line = await house.person.pty.wait_for({ conversation_id, match: "INPUT" });
    await house.person.pty.send({ conversation_id, data: "mine\r", if_prompt: line.prompt_id });

    expect(await waiting).toMatchObject({ matched: true });
    await eventually(async () => expect(await house.control(sessionId)).toEqual({ ...before, agent_status: "IDLE" }));
    const inputs = await house.events(sessionId, ["input"]);
    expect(inputs.map((it) => [it.source.kind, it.payload["class"]])).toEqual([
      ["person", "assist"],
      ["person", "assist"],
    ]);
  });

  test("[CTL-15, CTL-22] an agent's answer to a named prompt is judged as all its input is", async () => {
    const { conversation_id, sessionId } = await house.granted();
    await house.agent.pty.exec_interactive({ conversation_id, command: "read q; echo got-$q" });
    const asked = await house.agent.pty.wait_for({ conversation_id, match: "INPUT" });
    await house.person.control.take({ sessionId });

    const answer = house.agent.pty.send({ conversation_id, data: "evil\r", if_prompt: asked.prompt_id });

    expect(await codeOf(answer)).toBe("control_refused");
  });

  test("[CTL-15, CTL-24] an agent that doesn't drive can't resize what a person looks at", async () => {
    const { conversation_id, sessionId } = await house.driven();
    const resize = (cols: number) => codeOf(house.agent.pty.resize({ conversation_id, cols, rows: 30 }));
    expect(await resize(100)).toBe("ok");
    await house.person.control.take({ sessionId });

    expect(await resize(20)).toBe("control_refused");
    await house.person.control.user_intent({ sessionId, intent: "STOP_NOW" });
    expect(await resize(20)).toBe("stopped");
    expect(await house.person.pty.status({ conversation_id })).toMatchObject({ cols: 100, rows: 30 });
  });

  test("[CTL-15] resizes, the emulator's replies and focus reports change nothing", async () => {
    const { conversation_id, sessionId } = await house.granted();
    const viewer = await house.viewer(sessionId, { input: true });
    const before = await house.control(sessionId);
    const program = String.raw`stty -icanon -echo; printf '\033[?1004h\033[6n'; cat -v`;
    await house.agent.pty.exec_interactive({ conversation_id, command: program });
    await eventually(() => expect(viewer.bytes().toString()).toContain("\u001B[?1004h"));

    viewer.send({ type: "resize", sessionId, cols: 100, rows: 30 });
    viewer.send({ type: "input", sessionId, data: "\u001B[I" });
    viewer.send({ type: "input", sessionId, data: "\u001B[O\u001B[I" });

    await eventually(async () => expect(await house.events(sessionId, ["resize"])).toHaveLength(2));
    await eventually(() => expect(viewer.bytes().toString()).toMatch(/\^\[\[\d+;\d+R/));
    await eventually(() =>
      expect(
        viewer
          .bytes()
          .toString()
          .match(/\^\[\[[IO]/g),
      ).toHaveLength(3),
    );
    expect(await house.control(sessionId)).toEqual({ ...before, agent_status: expect.any(String) as unknown });
    await house.agent.pty.ctrl_c({ conversation_id });
    await eventually(async () =>
      expect((await house.events(sessionId, ["input"])).map((it) => it.source.kind)).toEqual(["agent"]),
    );
  });

  test("[CTL-14] the same bytes are keys where no program asked who looks", async () => {
    const { sessionId } = await house.granted();

    await house.person.session.input({ sessionId, data: "\u001B[I" });

    expect(await house.control(sessionId)).toMatchObject({ reason: "user_input_override" });
  });
});

describe("intents", () => {
  test("[CTL-27] WAIT withdraws an interrupt, and under STOP_NOW changes nothing", async () => {
    const { conversation_id, sessionId } = await house.granted();
    await house.person.control.user_intent({ sessionId, intent: "SAFE_INTERRUPT" });
    const withdrawn = await house.person.control.user_intent({ sessionId, intent: "WAIT" });
    const went = await codeOf(house.agent.pty.exec_block(run(conversation_id, "true")));
    await house.person.control.user_intent({ sessionId, intent: "STOP_NOW" });
    const kept = await house.person.control.user_intent({ sessionId, intent: "WAIT" });

    expect(withdrawn).toMatchObject({ user_intent: "WAIT", control_mode: "AGENT" });
    expect(went).toBe("ok");
    expect(kept).toMatchObject({ user_intent: "STOP_NOW", control_mode: "USER" });
    expect(await codeOf(house.agent.pty.exec_block(run(conversation_id, "true")))).toBe("stopped");
  });

  test("[CTL-31] STOP_NOW stands until a grant, or until a person lets go", async () => {
    const { conversation_id, sessionId } = await house.granted();
    await house.person.control.user_intent({ sessionId, intent: "STOP_NOW" });
    await house.receipt(sessionId);
    const asked = await house.agent.control.request({ sessionId, reason: "again" });
    const granted = await house.person.control.grant({ sessionId, lease_seconds: 30 });
    const after = await house.agent.pty.exec_block(run(conversation_id, "echo back"));
    await house.person.control.user_intent({ sessionId, intent: "STOP_NOW" });
    const released = await house.person.control.release({ sessionId });

    expect(asked).toMatchObject({ user_intent: "STOP_NOW", requested_by: { agent_id: "agent" } });
    expect(granted).toMatchObject({ user_intent: "WAIT", control_mode: "AGENT", agent_status: "IDLE" });
    expect(after.output).toBe("back\n");
    expect(released).toMatchObject({ user_intent: "WAIT", holder: null, interactive: false });
    expect(await codeOf(house.agent.pty.exec_block(run(conversation_id, "true")))).toBe("ok");
  });

  test("[CTL-23, CTL-33] a stop between an agent's calls meets whatever it has on its way", async () => {
    const { conversation_id, sessionId } = await house.granted();
    const file = `${house.hub.dataDir}/typed`;
    const flood = Array.from({ length: 20 }, (_, index) =>
      codeOf(house.agent.pty.exec_block(run(conversation_id, `echo ${index} >> ${file}`))),
    );

    await house.person.control.user_intent({ sessionId, intent: "STOP_NOW" });
    await house.receipt(sessionId);
    const seen = await house.person.pty.exec_block(run(conversation_id, `cat ${file} 2>/dev/null | wc -l`));
    await house.person.control.grant({ sessionId, lease_seconds: 30 });

    const codes = await Promise.all(flood);
    expect(codes.filter((it) => !["ok", "busy", "stopped", "stale_epoch", "limit_reached"].includes(it))).toEqual([]);
    const again = await house.agent.pty.exec_block(run(conversation_id, `cat ${file} 2>/dev/null | wc -l`));
    expect(again.output).toBe(seen.output);
  });

  test("[CTL-31] scope `all` takes the person's jobs too", async () => {
    const { conversation_id, sessionId } = await house.granted();
    await house.person.pty.exec_block(run(conversation_id, "sleep 1000 & sleep 1001 &"));

    await house.person.control.user_intent({ sessionId, intent: "STOP_NOW", scope: "all" });

    const { payload } = await house.receipt(sessionId);
    expect(payload).toMatchObject({ kill_scope: "all", killed_count: 2, survivors: [] });
  });
});

describe("letting go", () => {
  test("[CTL-21] an agent gives up what it has, with a note, and nobody holds", async () => {
    const { sessionId } = await house.driven();

    const released = await house.agent.control.release({ sessionId, note: "done" });

    expect(released).toMatchObject({ control_mode: "USER", holder: null, reason: "released", interactive: false });
    expect(await codeOf(house.agent.control.release({ sessionId }))).toBe("control_refused");
    const last = (await house.events(sessionId, ["control_handoff"])).at(-1);
    expect(last).toMatchObject({ source: { kind: "agent", id: "agent" }, payload: { note: "done" } });
  });

  test("[CTL-37] the session shows who holds it and whether it is interactive", async () => {
    const { sessionId } = await house.driven();
    const shown = async () => {
      const { controllerId, interactive } = await house.person.session.get({ sessionId });
      return { controllerId, interactive };
    };

    const driven = await shown();
    await house.person.control.take({ sessionId });
    await eventually(async () => expect(await shown()).toEqual({ controllerId: "operator", interactive: true }));
    await house.person.control.release({ sessionId });

    expect(driven).toEqual({ controllerId: "agent", interactive: false });
    await eventually(async () => expect((await shown()).interactive).toBe(false));
  });

  test("[CTL-16] an agent can't close the session that a person holds, though it is its own", async () => {
    const { sessionId } = await house.driven();
    await house.person.control.take({ sessionId });

    expect(await codeOf(house.agent.session.close({ sessionId }))).toBe("control_refused");
    await house.person.control.release({ sessionId });
    expect(await codeOf(house.agent.session.close({ sessionId }))).toBe("ok");
  });

  test("[CTL-28, CTL-29] after SAFE_INTERRUPT an agent that would close its session is paused", async () => {
    const { sessionId } = await house.granted();
    await house.person.control.user_intent({ sessionId, intent: "SAFE_INTERRUPT" });

    expect(await codeOf(house.agent.session.close({ sessionId }))).toBe("paused");

    const paused = { control_mode: "USER", holder: { id: "operator" }, agent_status: "PAUSED" };
    expect(await house.control(sessionId)).toMatchObject(paused);
    expect((await house.person.session.get({ sessionId })).status).toBe("active");
    expect(await codeOf(house.person.session.close({ sessionId }))).toBe("ok");
  });

  test("[CTL-16, CTL-24] nor while STOP_NOW stands, by resetting or ending what runs in it", async () => {
    const { conversation_id, sessionId } = await house.granted();
    await house.person.control.user_intent({ sessionId, intent: "STOP_NOW" });

    expect(await codeOf(house.agent.session.close({ sessionId }))).toBe("stopped");
    expect(await codeOf(house.agent.pty.reset({ conversation_id }))).toBe("stopped");
    expect(await codeOf(house.agent.pty.end_session({ conversation_id }))).toBe("stopped");
  });
});

describe("approvals", () => {
  const ask = (sessionId: string) =>
    house.agent.approval.request({ sessionId, kind: "tool", payload: { command: "rm -r build" } });
  const outcome = (requestId: string) =>
    eventually(async () => {
      const { status, approved, reason, resolvedBy } = await house.person.approval.get({ requestId });
      expect(status).not.toBe("pending");
      return { status, approved, reason, resolvedBy };
    });

  test("[CTL-35] of an agent that is stopped end with `stopped`, and nobody can approve them any more", async () => {
    const { sessionId } = await house.granted();
    const { requestId } = await ask(sessionId);

    await house.person.control.user_intent({ sessionId, intent: "STOP_NOW" });

    const ended = { status: "rejected", approved: false, reason: "stopped", resolvedBy: "system" };
    expect(await outcome(requestId)).toEqual(ended);
    const late = house.person.approval.resolve({ requestId, status: "approved", approved: true });
    expect(await codeOf(late)).toBe("approval_decided");
  });

  test("[CTL-35] of an agent without control too", async () => {
    const { sessionId } = await house.flagged();
    const { requestId } = await ask(sessionId);

    await house.person.control.user_intent({ sessionId, intent: "STOP_NOW" });

    expect(await outcome(requestId)).toMatchObject({ status: "rejected", reason: "stopped" });
  });

  test("[CTL-35] of an agent that loses control otherwise end with `revoked`, and others' stay", async () => {
    const { sessionId } = await house.granted();
    const { requestId } = await ask(sessionId);
    const other = await house.otherAgent.approval.request({ sessionId, kind: "tool", payload: {} });

    await house.person.control.take({ sessionId });

    expect(await outcome(requestId)).toMatchObject({ status: "rejected", reason: "revoked" });
    expect((await house.person.approval.get({ requestId: other.requestId })).status).toBe("pending");
  });
});

function key(sessionId: string): object {
  return { type: "input", sessionId, keys: ["Down"] };
}
