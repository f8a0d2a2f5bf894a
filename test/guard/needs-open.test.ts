import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type AppError, SidestickClient } from "../../src/client/sidestick.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { type GuardedHub, openGuardedHub } from "../support/guarded-hub.ts";
import { canBeOrdinary, ordinaryUser } from "../support/ordinary-user.ts";

describe.runIf(canBeOrdinary())("a host without rights (needs a checkout that others may enter)", () => {
  let hub: GuardedHub;
  let agent: SidestickClient;
  let person: SidestickClient;
  let conversations = 0;

  beforeAll(async () => {
    const user = ordinaryUser();
    hub = await openGuardedHub({ as: user });
    ({ agent, person } = hub);
    return async () => {
      await hub.end();
      user.remove();
    };
  });

  const run = (conversation_id: string, command: string, by = agent) =>
    by.pty.exec_block({ conversation_id, command, wait_ms: WAIT_BUDGET_MS });

  /** A guarded terminal of the agent's, in a directory of its own. */
  async function guarded(): Promise<{ conversation_id: string; sessionId: string; cwd: string }> {
    conversations += 1;
    const conversation_id = `c${conversations}`;
    const cwd = `${hub.home}/${conversation_id}`;
    const { workspace_session_id: sessionId } = await run(conversation_id, `mkdir ${cwd}; cd ${cwd}`);
    return { conversation_id, sessionId, cwd };
  }

  async function refused(call: Promise<unknown>): Promise<AppError> {
    return call.then(
      (answer) => expect.fail(`it was not refused: ${JSON.stringify(answer)}`),
      (error: unknown) => error as AppError,
    );
  }

  /** Of the approval that a refusal raised. */
  async function asked(call: Promise<unknown>): Promise<string> {
    return (await refused(call)).details["approvalId"] as string;
  }

  const approve = (requestId: string) => person.approval.resolve({ requestId, status: "approved" });

  test("[GRD-1, GRD-3] what an agent's first command makes is guarded, and says so", async () => {
    const { conversation_id, sessionId } = await guarded();

    const { output } = await run(conversation_id, `ls ${hub.dataDir}`);

    expect(output?.trim()).toBe("host");
    expect((await person.session.get({ sessionId })).containment).toBe("guard");
    expect((await agent.pty.status({ conversation_id })).containment).toBe("guard");
    expect((await person.control.get({ sessionId })).containment).toBe("guard");
    const [born] = await person.event.list({ sessionId, types: ["status"] });
    expect(born?.payload["session"]).toMatchObject({ containment: "guard" });
  });

  test("[GRD-15, GRD-22] what needs rights is refused before it runs, and a person is asked once", async () => {
    const { conversation_id, sessionId } = await guarded();

    const [first, second] = await Promise.all([
      refused(run(conversation_id, "touch ran && sudo id")),
      refused(agent.pty.exec_interactive({ conversation_id, command: "touch ran; sudo -s" })),
    ]);

    expect(first.code).toBe("needs_open");
    const { approvalId } = first.details;
    expect(first.details).toMatchObject({
      program: "sudo",
      reason: "sudo can't gain rights inside the guard of this host",
    });
    expect(second.details["approvalId"]).toBe(approvalId);
    expect((await run(conversation_id, "ls ran")).exit_code).not.toBe(0);
    const pending = (await person.approval.list({ status: "pending" })).filter((it) => it.sessionId === sessionId);
    expect(pending).toMatchObject([
      {
        requestId: approvalId,
        kind: "escalation",
        rule: "needs_open",
        riskLevel: "high",
        requestedBy: "agent",
        containment: "guard",
        action: expect.stringMatching(/^Continue in an open session: touch ran/),
        payload: { program: "sudo", conversationId: conversation_id },
      },
    ]);
  });

  test("[GRD-22] approved, the conversation's next command runs in an open session, there, under a grant (needs sudo)", async () => {
    const { conversation_id, sessionId: before, cwd } = await guarded();
    const requestId = await asked(run(conversation_id, "sudo id"));

    const approval = await approve(requestId);
    const where = await run(conversation_id, "pwd");

    const { sessionId } = approval.result as { sessionId: string };
    expect(where).toMatchObject({ workspace_session_id: sessionId, output: `${cwd}\n` });
    expect((await agent.approval.get({ requestId: approval.requestId })).result).toEqual({ sessionId });
    expect(await person.session.get({ sessionId })).toMatchObject({
      containment: "open",
      title: `${(await person.session.get({ sessionId: before })).title} (open)`,
      conversationId: conversation_id,
      ownerAgentId: "agent",
      interactive: true,
    });
    expect(await person.control.get({ sessionId })).toMatchObject({
      control_mode: "AGENT",
      holder: { kind: "agent", id: "agent" },
      granted_by: "operator",
      lease_seconds: 600,
    });
    expect((await person.session.get({ sessionId: before })).status).toBe("active");
    expect((await run(conversation_id, "sudo --version")).exit_code).toBe(0);
  });

  test("[GRD-22] a command that comes while the session is being opened runs in it", async () => {
    const { conversation_id } = await guarded();
    const requestId = await asked(run(conversation_id, "sudo id"));
    const { eventCursor: after } = await agent.snapshot.get();

    const decided = agent.event.list({ after, types: ["approval_decision"], waitMs: WAIT_BUDGET_MS });
    const resolved = approve(requestId);
    const [event] = await decided;
    const { workspace_session_id } = await run(conversation_id, "true");

    expect(event?.payload["result"]).toEqual({ sessionId: workspace_session_id });
    await resolved;
  });

  test("[GRD-22, HTP-9] the same request under the same key runs once it is approved (needs sudo)", async () => {
    const { conversation_id } = await guarded();
    const request = { conversation_id, command: "sudo --version", wait_ms: WAIT_BUDGET_MS };
    const key = { idempotencyKey: "again" };
    const requestId = await asked(agent.pty.exec_block(request, key));
    await approve(requestId);

    const ran = await agent.pty.exec_block(request, key);
    const again = await agent.pty.exec_block(request, key);

    expect([ran.exit_code, again.block_id]).toEqual([0, ran.block_id]);
  });

  test("[GRD-22] rejected, nothing changes; a second approval finds the conversation elsewhere", async () => {
    const { conversation_id, sessionId } = await guarded();
    const ask = (command: string) => asked(run(conversation_id, command));
    const no = await ask("sudo id");
    await person.approval.resolve({ requestId: no, status: "rejected" });
    expect((await run(conversation_id, "true")).workspace_session_id).toBe(sessionId);
    const [sudo, su] = [await ask("sudo id"), await ask("su")];
    expect([sudo === no, sudo === su]).toEqual([false, false]);

    await approve(sudo);
    const late = await refused(approve(su));

    expect(late.code).toBe("approval_stale");
    expect((await person.approval.get({ requestId: su })).status).toBe("pending");
  });

  test("[GRD-19, GRD-22] a session that can't be opened is told to who approved; it can be asked for again", async () => {
    const { conversation_id, sessionId, cwd } = await guarded();
    const requestId = await asked(run(conversation_id, "sudo id"));
    await run(conversation_id, `rmdir ${cwd}`);

    const failed = await refused(approve(requestId));

    expect([failed.code, failed.message]).toEqual(["kind_unavailable", "cwd is no directory on this host"]);
    expect((await run(conversation_id, "cd")).workspace_session_id).toBe(sessionId);
    expect(await asked(run(conversation_id, "sudo id"))).not.toBe(requestId);
  });

  test("[GRD-22] when the open session ends, the conversation is in the guard again", async () => {
    const { conversation_id, sessionId: before } = await guarded();
    const requestId = await asked(run(conversation_id, "sudo id"));
    const { result } = await approve(requestId);
    const { sessionId } = result as { sessionId: string };

    await person.session.close({ sessionId });

    expect((await run(conversation_id, "true")).workspace_session_id).toBe(before);
  });

  test("[GRD-15] a person is refused too, and asks nobody; whoever doesn't drive asks nobody either", async () => {
    const { conversation_id, sessionId } = await guarded();

    const told = await refused(run(conversation_id, "sudo id", person));
    await person.control.take({ sessionId });
    const stranger = await refused(run(conversation_id, "sudo id"));
    await person.control.user_intent({ sessionId, intent: "STOP_NOW" });
    const stopped = await refused(run(conversation_id, "sudo id"));

    expect([told.code, told.details["approvalId"]]).toEqual(["needs_open", undefined]);
    expect([stranger.code, stopped.code]).toEqual(["control_refused", "stopped"]);
    expect((await person.approval.list()).filter((it) => it.sessionId === sessionId)).toEqual([]);
  });

  test("[GRD-22] an agent that has control by a grant asks, too", async () => {
    const { conversation_id, sessionId } = await guarded();
    await person.control.take({ sessionId });
    await person.control.grant({ sessionId, lease_seconds: 60 });

    expect(await asked(run(conversation_id, "sudo id"))).toEqual(expect.any(String));
  });

  test("[GRD-15, CTL-7] so is another agent, whose input would take control from the first", async () => {
    const { conversation_id, sessionId } = await guarded();
    const { token } = await person.token.create({ role: "agent", name: "second" });
    const second = new SidestickClient({ url: hub.url, token });

    const refusal = await refused(run(conversation_id, "sudo id", second));

    expect(refusal.code).toBe("needs_open");
    expect((await person.control.get({ sessionId })).holder).toEqual({ kind: "agent", id: "agent" });
  });

  test("[GRD-4, GRD-22] where agents may not drive open sessions, no way out is offered", async () => {
    const forbid = { workspaceId: "strict", settings: { grant_open: "forbid" } } as const;
    await person.workspace.put(forbid);
    const conversationId = "strict";
    const { sessionId } = await agent.session.create({ kind: "terminal", workspaceId: "strict", conversationId });

    const refusal = await refused(run(conversationId, "sudo id"));

    expect(refusal.code).toBe("needs_open");
    expect(refusal.message).toContain("lets no agent drive an open session");
    expect(refusal.details["approvalId"]).toBeUndefined();
    expect((await person.approval.list()).filter((it) => it.sessionId === sessionId)).toEqual([]);
  });
});

test.runIf(process.getuid?.() === 0)("[GRD-15] where the host is root nothing is refused (needs root)", async () => {
  const hub = await openGuardedHub();
  onTestFinished(hub.end);
  const run = { conversation_id: "root", command: "sudo --version", wait_ms: WAIT_BUDGET_MS };

  const { exit_code, workspace_session_id: sessionId } = await hub.agent.pty.exec_block(run);

  expect(exit_code).toBe(0);
  expect((await hub.person.session.get({ sessionId })).containment).toBe("guard");
});
