import { expect, test } from "vitest";
import { SidestickClient, type WorkspaceSession } from "../../src/client/sidestick.ts";
import type { GuardAbility } from "../../src/protocol/link.ts";
import { codeOf } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { startTestHub } from "../support/hub.ts";
import { MemoryDriver } from "../support/memory-driver.ts";
import { runCli } from "../support/run-cli.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const WHOLE: GuardAbility = { available: true, missing: [] };
const NONE: GuardAbility = {
  available: false,
  missing: [{ layer: "guard", reason: "perl is missing", remedy: "install perl" }],
};

async function start(guard: GuardAbility | undefined, dataDir?: string) {
  const driver = new MemoryDriver("terminal", guard);
  const hub = await startTestHub({ drivers: [driver], ...(dataDir === undefined ? {} : { dataDir }) });
  const person = new SidestickClient({ url: hub.url, token: hub.operatorToken });
  const agent = new SidestickClient({ url: hub.url, token: hub.agentToken });
  const settings = (it: object) => person.workspace.put({ workspaceId: "default", settings: it });
  const started = (sessionId: string) => eventually(() => driver.terms.get(sessionId) ?? expect.fail("not started"));
  return { hub, person, agent, settings, started };
}

const TERMINAL = { kind: "terminal" } as const;

test("[GRD-1, GRD-2] who asks decides: guard for an agent, open for a person who may choose", async () => {
  const { person, agent } = await start(WHOLE);
  const levelOf = async (made: Promise<WorkspaceSession>) => (await made).containment;

  expect(await levelOf(agent.session.create(TERMINAL))).toBe("guard");
  expect(await levelOf(agent.session.create({ ...TERMINAL, containment: "guard" }))).toBe("guard");
  expect(await levelOf(person.session.create(TERMINAL))).toBe("open");
  expect(await levelOf(person.session.create({ ...TERMINAL, containment: "guard" }))).toBe("guard");
  expect(await levelOf(person.session.create({ ...TERMINAL, ownerAgentId: "bot" }))).toBe("open");
  const refused = { containment: "open" } as const;
  expect(await codeOf(agent.session.create({ ...TERMINAL, ...refused }))).toBe("needs_open");
  expect(await codeOf(agent.session.create({ ...TERMINAL, containment: "user", user: "ci" }))).toBe("needs_open");
  expect(await person.session.list()).toHaveLength(5);
});

test("[GRD-1, GRD-3] where there is no guard an agent's session is open and says why, now and after a restart", async () => {
  const dataDir = await temporaryDirectory();
  const first = await start(NONE, dataDir);

  const { sessionId } = await first.agent.session.create(TERMINAL);

  const expected = { containment: "open", containmentMissing: NONE.missing };
  expect(await first.person.session.get({ sessionId })).toMatchObject(expected);
  const [born] = await first.person.event.list({ sessionId, types: ["status"] });
  expect(born?.payload["session"]).toMatchObject(expected);
  expect(await codeOf(first.agent.session.create({ ...TERMINAL, containment: "guard" }))).toBe("kind_unavailable");
  await first.hub.stop();
  const second = await start(WHOLE, dataDir);
  expect(await second.person.session.get({ sessionId })).toMatchObject(expected);
});

test("[GRD-3] a layer that the guard lacks is in the session", async () => {
  const missing = [{ layer: "landlock", reason: "an old kernel" }];
  const { agent } = await start({ available: true, missing });

  const session = await agent.session.create(TERMINAL);

  expect(session).toMatchObject({ containment: "guard", containmentMissing: missing });
});

test("[GRD-3] lists, one session and control show the level to people", async () => {
  const { hub, person, agent } = await start(NONE);
  const { sessionId } = await agent.session.create(TERMINAL);
  await person.session.create(TERMINAL);
  const cli = async (...args: string[]) => (await runCli([...args, "--data-dir", hub.dataDir])).stdout;

  expect(await cli("sessions")).toMatch(/LEVEL.*\n.* no guard .*\n.* open /);
  expect(await cli("sessions", "get", sessionId)).toMatch(
    /containmentMissing +guard: perl is missing \(install perl\)/,
  );
  expect(await cli("control", sessionId)).toMatch(/containment +open/);
});

test("[GRD-2, GRD-5] an account goes with the level `user`, is a person's to name, and reaches the host", async () => {
  const { person, started } = await start(WHOLE);

  const session = await person.session.create({ ...TERMINAL, containment: "user", user: "ci" });

  expect(session).toMatchObject({ containment: "user", user: "ci" });
  expect(await started(session.sessionId)).toMatchObject({ user: "ci" });
  expect(await codeOf(person.session.create({ ...TERMINAL, containment: "user" }))).toBe("invalid_request");
  expect(await codeOf(person.session.create({ ...TERMINAL, user: "ci" }))).toBe("invalid_request");
});

test("[GRD-13] what a workspace adds to the guard reaches the host, of guarded sessions only", async () => {
  const { person, agent, settings, started } = await start(WHOLE);
  const paths = { guard_hidden: ["~/notes"], guard_shown: ["~/.ssh/config"], guard_read_only: ["/srv"] };
  await settings({ ...paths, guard_writable: ["/opt/x"], guard_network: false });

  const guarded = await agent.session.create(TERMINAL);
  const open = await person.session.create(TERMINAL);

  const lists = { hidden: ["~/notes"], shown: ["~/.ssh/config"], read_only: ["/srv"], writable: ["/opt/x"] };
  expect((await started(guarded.sessionId)).guard).toEqual({ ...lists, network: false });
  expect((await started(open.sessionId)).guard).toBeUndefined();
  expect(await codeOf(settings({ guard_hidden: ["notes"] }))).toBe("invalid_request");
});

test("[GRD-13] a workspace may give its agents open sessions", async () => {
  const { agent, settings } = await start(WHOLE);
  await settings({ containment: "open" });

  const session = await agent.session.create(TERMINAL);

  expect([session.containment, session.containmentMissing]).toEqual(["open", undefined]);
});

test("[GRD-4] a grant of an open session says what it means; of a guarded one there is nothing to say", async () => {
  const { hub, person, agent } = await start(WHOLE);
  const open = await person.session.create({ ...TERMINAL, interactive: true });
  const guarded = await agent.session.create({ ...TERMINAL, interactive: true });
  const grant = { lease_seconds: 60, agent_id: "bot" };

  const warned = await person.control.grant({ sessionId: open.sessionId, ...grant });
  const released = await person.control.release({ sessionId: open.sessionId, ...grant });
  const free = await person.control.release({ sessionId: open.sessionId });
  const quiet = await person.control.grant({ sessionId: guarded.sessionId, ...grant });
  const told = await runCli(["grant", open.sessionId, "--agent", "bot", "--data-dir", hub.dataDir]);

  expect(warned.warning).toMatch(/^This session is open: .+ run as you.+ is a promise\.$/);
  expect([released.warning, free.warning]).toEqual([warned.warning, warned.warning]);
  expect(quiet.warning).toBeUndefined();
  expect(told.stderr).toContain(warned.warning);
});

test("[GRD-4] a workspace can forbid it: no grant, nobody by itself, and none is made for an agent", async () => {
  const { person, agent, settings, started } = await start(NONE);
  await settings({ grant_open: "forbid" });
  const { sessionId } = await person.session.create({ ...TERMINAL, interactive: true });
  const grant = { sessionId, lease_seconds: 60, agent_id: "bot" };

  expect(await codeOf(person.control.grant(grant))).toBe("policy_denied");
  expect(await codeOf(person.control.release(grant))).toBe("policy_denied");
  expect((await started(sessionId)).agentsMayAcquire).toBe(false);
  const free = await person.session.create(TERMINAL);
  await started(free.sessionId);
  expect(await codeOf(agent.session.input({ sessionId: free.sessionId, data: "x" }))).toBe("control_refused");
  expect(await codeOf(agent.session.create(TERMINAL))).toBe("policy_denied");
  expect((await person.event.list({ sessionId, types: ["control_handoff"] })).length).toBe(0);
});

test("[GRD-3] an approval says at which level its session is", async () => {
  const { agent } = await start(WHOLE);
  const { sessionId } = await agent.session.create(TERMINAL);

  const bound = await agent.approval.request({ sessionId, kind: "tool", payload: {} });
  const free = await agent.approval.request({ kind: "tool", payload: {} });

  expect([bound.containment, free.containment]).toEqual(["guard", undefined]);
});

test("[GRD-19, SES-2] why a session did not start is in its record, and whoever runs a command reads it", async () => {
  const { person, agent } = await start(WHOLE);
  const conversation_id = "refuse with a reason";

  const failed = agent.pty.exec_block({ conversation_id, command: "true" });

  await expect(failed).rejects.toMatchObject({ code: "kind_unavailable", message: "the reason" });
  const expected = { status: "closed", containment: "guard", reason: "start_failed", detail: "the reason" };
  expect(await person.session.list({ conversationId: conversation_id })).toMatchObject([expected]);
});
