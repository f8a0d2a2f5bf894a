/** Commands of projects that a person is asked about. */
import { existsSync, writeFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { type AppError, type ApprovalRequest, SidestickClient } from "../../src/client/sidestick.ts";
import { JudgedHub, POLICY } from "../approvals/judged-hub.ts";
import { eventually } from "../support/eventually.ts";
import { spawnTestHub, tokenOf } from "../support/hub.ts";
import { letAgentsBe } from "../support/policy.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { endHostAfterTest } from "../support/terminal-hub.ts";

let hub: JudgedHub;
let projects = 0;
beforeAll(async () => {
  hub = await JudgedHub.open(POLICY);
  return hub.stop;
});

async function project(): Promise<{ readonly project_id: string }> {
  projects += 1;
  const workspaceId = `asked-${projects}`;
  await hub.person.workspace.put({ workspaceId, ...hub.where, settings: { containment: "open" } });
  return { project_id: workspaceId };
}

async function refused(call: Promise<unknown>): Promise<AppError> {
  return call.then(
    (answer) => expect.fail(`it was not refused: ${JSON.stringify(answer)}`),
    (error: unknown) => error as AppError,
  );
}

/** Started without patience: the answer names the approval and the session. */
async function pending(command: string, at: { readonly project_id: string }) {
  const refusal = await refused(hub.agent.command.start({ ...at, command, wait_ms: 0, reason: "it is needed" }));
  const { requestId, session_id } = refusal.details as { requestId: string; session_id: string };
  const approval = await hub.person.approval.get({ requestId });
  return { refusal, approval, at: { ...at, session_id } };
}

const closed = (sessionId: string) =>
  eventually(async () => {
    const session = await hub.person.session.get({ sessionId });
    expect(session.status).toBe("closed");
    return session;
  });

test("[RMC-9] what asks runs when it is approved, once, and its caller is told what came of it", async () => {
  const at = await project();
  const made = hub.path("approved");

  const { refusal, approval, at: it } = await pending(`touch ${made}; read -p 'Go on? ' x; exit 7`, at);
  const before = existsSync(made);
  await hub.approve(approval);
  const asked = await hub.agent.command.wait({ ...it, until: "Go on?" });
  const end = await hub.agent.command.send({ ...it, input_text: "y\n" });

  expect([refusal.code, before, existsSync(made)]).toEqual(["approval_pending", false, true]);
  expect(approval).toMatchObject({
    action: "remote_command",
    rule: "asks",
    sessionId: it.session_id,
    payload: { agentSays: "it is needed" },
  });
  expect(asked).toMatchObject({ final: false, output: "Go on? " });
  expect(end).toMatchObject({ final: true, exit_code: 7 });
});

test("[RMC-9] a call that waits is answered with what ran, as the person changed it", async () => {
  const at = await project();
  const [wanted, instead] = [hub.path("wanted"), hub.path("instead")];
  const call = hub.agent.command.execute({ ...at, command: `touch ${wanted}` });
  const approval = await eventually(async () => {
    const [first] = await hub.person.approval.list({ status: "pending" });
    expect(first).toBeDefined();
    return first as ApprovalRequest;
  });

  const { requestId } = approval;
  await hub.person.approval.resolve({ requestId, status: "approved", edit: { command: `touch ${instead}; echo ok` } });

  expect(await call).toMatchObject({
    exit_code: 0,
    stdout: "ok\n",
    approval_id: requestId,
    edited: expect.any(String),
  });
  expect([existsSync(wanted), existsSync(instead)]).toEqual([false, true]);
});

test("[RMC-9] what is denied, rejected or not answered never runs, and leaves no session behind", async () => {
  const made = hub.path("never");
  const denied = await refused(hub.agent.command.execute({ ...(await project()), command: `rm -f ${made}` }));
  const rejected = await pending(`touch ${made}`, await project());
  const expiring = await pending(`touch -c ${made}`, await project());

  await hub.person.approval.resolve({ requestId: rejected.approval.requestId, status: "rejected" });

  expect(denied.code).toBe("policy_denied");
  for (const { at } of [rejected, expiring]) expect((await closed(at.session_id)).reason).toBe("not_run");
  expect(await hub.agent.command.wait(rejected.at)).toMatchObject({ final: true, reason: "not_run", output: "" });
  expect(existsSync(made)).toBe(false);
  const open = (await hub.person.session.list()).filter((it) => it.command !== undefined && it.status !== "closed");
  expect(open).toEqual([]);
});

test("[RMC-9, APR-12] what changed since it was asked about doesn't run", async () => {
  const script = await hub.write("script.sh", "echo good\n");
  const { approval, at } = await pending(`sh ${script}`, await project());
  writeFileSync(script, "echo evil\n");

  await hub.approve(approval);

  expect((await closed(at.session_id)).reason).toBe("not_run");
  const settled = await hub.person.approval.get({ requestId: approval.requestId });
  expect(settled.result).toMatchObject({ outcome: "not_run", code: "approval_stale", changed: [`script:${script}`] });
  expect((await hub.agent.command.wait(at)).output).toBe("");
});

test("[RMC-9, RMC-3] an agent types nothing into what has not begun", async () => {
  const { approval, at } = await pending(`sh -c 'read x; echo "<$x>"'`, await project());

  const early = await refused(hub.agent.command.send({ ...at, input_text: "early\n" }));
  await hub.approve(approval);
  const asked = await hub.agent.command.wait(at);

  expect([early.code, early.message]).toEqual(["invalid_transition", "The command has not begun yet"]);
  expect(asked).toMatchObject({ final: false, output: "", waiting: { kind: "line" } });
});

test("[RMC-9] what still waited for a person when its hub was killed is ended by the next one", async () => {
  const dataDir = await temporaryDirectory();
  await letAgentsBe(dataDir, POLICY);
  endHostAfterTest(dataDir);
  const first = await spawnTestHub(dataDir, ["--port", "0"], "terminal-hub");
  const token = await tokenOf(dataDir, "agent", "agent");
  const agent = new SidestickClient({ url: first.url, token });
  const start = { project_id: "default", command: "touch never", wait_ms: 0 };
  const { session_id } = (await refused(agent.command.start(start))).details as { session_id: string };

  await first.kill("SIGKILL");
  const second = await spawnTestHub(dataDir, ["--port", "0"], "terminal-hub");
  const again = new SidestickClient({ url: second.url, token });

  expect(await again.command.wait({ project_id: "default", session_id })).toMatchObject({
    final: true,
    reason: "not_run",
    output: "",
  });
});
