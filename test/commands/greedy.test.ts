/** An agent that wants more of a command than it was given: every other door to its session is held to the same rules. */
import { beforeAll, expect, test } from "vitest";
import { codeOf } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";

let hub: TerminalHub;
let projects = 0;
beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  return opened.stop;
});

async function started(command: string) {
  projects += 1;
  const project_id = `greedy-${projects}`;
  await hub.person.workspace.put({ workspaceId: project_id, ...hub.where, settings: { containment: "open" } });
  const { session_id } = await hub.agent.command.start({ project_id, command });
  return { project_id, session_id };
}

const send = (at: Awaited<ReturnType<typeof started>>, input_text = "x\n") =>
  codeOf(hub.agent.command.send({ ...at, input_text }));

test("[RMC-7] a password is a person's at every door", async () => {
  const at = await started("read -s -p 'Password: ' x; echo ${#x}");
  const { session_id: sessionId } = at;
  const [asked] = await eventually(async () => {
    const found = (await hub.person.prompt.list({ status: "pending" })).filter((it) => it.session_id === sessionId);
    expect(found).toHaveLength(1);
    return found;
  });
  const { prompt_id, nonce } = asked!;

  const codes = [
    await send(at, "hunter2\n"),
    await send(at, "h"),
    await send(at, "\u0015hunter2\r"),
    await codeOf(hub.agent.command.send({ ...at, input_text: "hunter2\n", if_prompt: prompt_id })),
    await codeOf(hub.agent.command.send({ ...at, input_text: "hunter2\n", secret: true })),
    await codeOf(hub.agent.session.input({ sessionId, data: "hunter2\r" })),
    await codeOf(hub.agent.session.input({ sessionId, keys: ["a", "Enter"] })),
    await codeOf(hub.agent.prompt.reply({ prompt_id, nonce, value: "hunter2" })),
  ];

  expect(codes).toEqual(codes.map(() => "secret_for_person"));
  expect((await hub.agent.command.wait({ ...at, wait_ms: 0 })).final).toBe(false);
});

test("[RMC-2, RMC-15] a command's session takes no other command, by any door", async () => {
  const at = await started('read x; echo "<$x>"');
  const { session_id: sessionId } = at;
  const conversation_id = sessionId;

  const codes = [
    await codeOf(hub.agent.pty.exec_block({ conversation_id, command: "echo more", wait_ms: 0 })),
    await codeOf(hub.agent.pty.reset({ conversation_id })),
  ];

  const { workspace_session_id: other } = await hub.agent.pty.status({ conversation_id });
  expect(codes).toEqual(["ok", "ok"]);
  expect(other).not.toBe(sessionId);
  expect((await hub.agent.command.wait({ ...at, wait_ms: 0 })).final).toBe(false);
});

test("[RMC-10] a person who drives, a pause, a lease that is over and a stop shut the agent out", async () => {
  const at = await started('while read x; do echo "<$x>"; done');
  const { session_id: sessionId } = at;
  const codes: string[] = [];

  await hub.person.control.take({ sessionId });
  codes.push(await send(at));
  await hub.person.control.grant({ sessionId, lease_seconds: 0.2 });
  await eventually(async () => expect((await hub.person.control.get({ sessionId })).control_mode).toBe("USER"));
  codes.push(await send(at));
  await hub.person.control.release({ sessionId });
  await hub.person.session.pause({ sessionId });
  codes.push(await send(at), await codeOf(hub.agent.session.input({ sessionId, data: "x\r" })));
  await hub.person.session.resume({ sessionId });
  await hub.person.control.user_intent({ sessionId, intent: "STOP_NOW" });
  codes.push(await send(at));

  expect(codes.slice(0, 4)).toEqual(["control_refused", "lease_expired", "session_paused", "session_paused"]);
  expect(["stopped", "invalid_transition", "revoked"]).toContain(codes[4]);
  await eventually(async () =>
    expect(await hub.person.command.wait(at)).toMatchObject({ final: true, reason: "stopped", output: "" }),
  );
});

test("[RMC-11] no agent gives its command more time than the hub does", async () => {
  const at = { project_id: "default", command: "true" };

  expect(await codeOf(hub.agent.command.start({ ...at, lifetime_seconds: 1e9 }))).toBe("invalid_request");
  expect(await codeOf(hub.agent.command.execute({ ...at, timeout_ms: 120_001 }))).toBe("invalid_request");
});
