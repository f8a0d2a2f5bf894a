import { beforeAll, expect, test } from "vitest";
import { WorkspaceEvent } from "../../src/protocol/events.ts";
import { WorkspaceSession } from "../../src/protocol/sessions.ts";
import { openTestHub, startTestHub, type TestHub, tokenOf } from "../support/hub.ts";
import { ask, verdict } from "../support/http.ts";
import { create, events, post, status } from "../support/sessions.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { eventually } from "../support/eventually.ts";

/** For all that leave others alone. */
let hub: TestHub;
beforeAll(async () => {
  hub = await openTestHub();
  return hub.stop;
});

test("[SES-2, SES-14] a new session is created, then active, with the published fields", async () => {
  const session = await create(hub, { title: "build", conversationId: "c1" });

  expect(WorkspaceSession.strict().parse(session)).toEqual(session);
  expect(session).toMatchObject({
    kind: "terminal",
    status: "created",
    title: "build",
    conversationId: "c1",
    workspaceId: "default",
    hostId: "local",
    interactive: false,
    controllerId: null,
  });
  await eventually(async () => expect(await status(hub, session.sessionId)).toBe("active"));
  const found = await ask(hub.url, { path: "/sessions?conversationId=c1", token: hub.operatorToken });
  expect(found.body.map((it: WorkspaceSession) => it.sessionId)).toEqual([session.sessionId]);
});

test("[SES-2] a driver that fails to start closes the session with the reason", async () => {
  const { sessionId } = await create(hub, { title: "refuse to start" });

  await eventually(async () => expect(await status(hub, sessionId)).toBe("closed"));
  const log = await events(hub, sessionId);
  expect(log.at(-1)?.payload).toEqual({ status: "closed", previous: "created", reason: "start_failed" });
});

test("[SES-3, SES-5] pause, resume and close at once after create are one status event each", async () => {
  const { sessionId } = await create(hub);

  for (const verb of ["pause", "resume", "pause", "close"])
    await post(hub, `/sessions/${sessionId}/${verb}`, hub.operatorToken);

  const log = await events(hub, sessionId);
  expect(log.map((event) => WorkspaceEvent.strict().parse(event).payload.status)).toEqual([
    "created",
    "active",
    "paused",
    "active",
    "paused",
    "closed",
  ]);
  const sequences = log.map((event) => event.sequence);
  expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
});

test("[SES-1] an illegal move is a typed refusal that names the status", async () => {
  const { sessionId } = await create(hub);
  await post(hub, `/sessions/${sessionId}/close`, hub.operatorToken);

  for (const verb of ["pause", "resume", "close"]) {
    const answer = await post(hub, `/sessions/${sessionId}/${verb}`, hub.operatorToken);
    expect(answer.body).toMatchObject({
      status: 409,
      code: "invalid_transition",
      command: verb,
      detail: `Can't ${verb} a session that is closed`,
    });
  }
});

test("[SES-6] a kind without a driver is unavailable and nothing is created", async () => {
  const hub = await startTestHub();

  const answer = await post(hub, "/sessions", hub.operatorToken, { kind: "browser" });

  expect(verdict(answer)).toBe("503 kind_unavailable");
  expect((await ask(hub.url, { path: "/sessions", token: hub.operatorToken })).body).toEqual([]);
});

test("[SES-7, SES-16] input is recorded as its actor's; paused, an agent's is refused and a person's passes; closed, none", async () => {
  const { sessionId } = await create(hub);
  const type = (token: string, data: string) => post(hub, `/sessions/${sessionId}/input`, token, { data });

  expect(await type(hub.agentToken, "ls\r").then(verdict)).toBe("200");
  await post(hub, `/sessions/${sessionId}/pause`, hub.operatorToken);
  expect(await type(hub.agentToken, "ls\r").then(verdict)).toBe("409 session_paused");
  expect(await type(hub.operatorToken, "né").then((it) => it.body)).toEqual({
    ok: true,
    bytes: 3,
    position: expect.any(Number),
  });
  await post(hub, `/sessions/${sessionId}/close`, hub.operatorToken);
  expect(await type(hub.operatorToken, "x").then(verdict)).toBe("409 invalid_transition");

  const inputs = (await events(hub, sessionId)).filter((it) => it.type === "input");
  expect(inputs.map((it) => [it.source, it.payload])).toEqual([
    [{ kind: "agent", id: "bot" }, { bytes: 3 }],
    [{ kind: "person", id: "olga" }, { bytes: 3 }],
  ]);
});

test("[SES-8] an agent may close its own session only", async () => {
  const theirs = await create(hub);
  const own = await create(hub, {}, hub.agentToken);
  const other = await tokenOf(hub.dataDir, "agent", "other");

  expect(own.ownerAgentId).toBe("bot");
  expect(await post(hub, `/sessions/${theirs.sessionId}/close`, hub.agentToken).then(verdict)).toBe("403 forbidden");
  expect(await post(hub, `/sessions/${own.sessionId}/close`, other).then(verdict)).toBe("403 forbidden");
  expect(await post(hub, `/sessions/${own.sessionId}/pause`, hub.agentToken).then(verdict)).toBe("403 forbidden");
  expect(await post(hub, `/sessions/${own.sessionId}/close`, hub.agentToken).then(verdict)).toBe("200");
});

test("[SES-4, SES-9] after a restart sessions are what they were; a lost one is closed", async () => {
  const dataDir = await temporaryDirectory();
  const first = await startTestHub({ dataDir });
  const kept = await create(first);
  const paused = await create(first);
  const lost = await create(first, { title: "lost on restart" });
  await post(first, `/sessions/${paused.sessionId}/pause`, first.operatorToken);
  await eventually(async () => expect(await status(first, lost.sessionId)).toBe("active"));
  const before = await ask(first.url, { path: "/sessions", token: first.operatorToken });
  await first.stop();

  const second = await startTestHub({ dataDir });

  const after = await ask(second.url, { path: "/sessions", token: first.operatorToken });
  expect(after.body.filter((it: WorkspaceSession) => it.sessionId !== lost.sessionId)).toEqual(
    before.body.filter((it: WorkspaceSession) => it.sessionId !== lost.sessionId),
  );
  expect(after.body.find((it: WorkspaceSession) => it.sessionId === lost.sessionId)).toMatchObject({
    status: "closed",
    reason: "host_lost",
  });
  expect(
    await post(second, `/sessions/${kept.sessionId}/input`, first.operatorToken, { data: "still here" }).then(verdict),
  ).toBe("200");
});

test("[SES-9, HST-6] one that ends while it is taken up has said all, and ends as it did", async () => {
  const dataDir = await temporaryDirectory();
  const first = await startTestHub({ dataDir });
  const { sessionId } = await create(first, { title: "ends on restart" });
  await eventually(async () => expect(await status(first, sessionId)).toBe("active"));
  await first.stop();

  const second = await startTestHub({ dataDir });

  await eventually(async () => expect(await status(second, sessionId)).toBe("closed"));
  const { body } = await ask(second.url, { path: `/sessions/${sessionId}`, token: first.operatorToken });
  expect(body).toMatchObject({ reason: "exited" });
  const { text } = await ask(second.url, { path: `/events?sessionId=${sessionId}`, token: first.operatorToken });
  expect(text).toContain("last words");
});

test("[SES-10, WSP-1, WSP-2] sessions belong to a workspace and its limit", async () => {
  const hub = await startTestHub();
  const put = (body: object) =>
    ask(hub.url, { method: "PUT", path: "/workspaces/lab", token: hub.operatorToken, body });

  expect((await ask(hub.url, { path: "/workspaces", token: hub.operatorToken })).body).toMatchObject([
    { workspaceId: "default", hostId: "local" },
  ]);
  expect(await post(hub, "/sessions", hub.operatorToken, { kind: "terminal", workspaceId: "lab" }).then(verdict)).toBe(
    "404 not_found",
  );
  await put({ limits: { maxSessions: 1 } });
  const { body } = await put({ settings: { agent_may_answer_passwords: true } });
  expect(body).toMatchObject({
    limits: { maxSessions: 1, maxPendingApprovals: 20 },
    settings: { interactive_when: "viewer_with_input", agent_may_answer_passwords: true },
  });
  const only = await create(hub, { workspaceId: "lab" });
  expect(await post(hub, "/sessions", hub.operatorToken, { kind: "terminal", workspaceId: "lab" }).then(verdict)).toBe(
    "429 limit_reached",
  );
  await post(hub, `/sessions/${only.sessionId}/close`, hub.operatorToken);
  await create(hub, { workspaceId: "lab" });
});

test("[WSP-2] every setting of a workspace can be put", async () => {
  const settings = {
    interactive_when: "viewer",
    agents_may_acquire: false,
    on_viewer: "safe_interrupt",
    agent_may_answer_passwords: true,
    while_streaming: "reject",
    show_raw_output: true,
  };

  const request = { method: "PUT", path: "/workspaces/lab", token: hub.operatorToken, body: { settings } };
  const { body } = await ask(hub.url, request);

  expect(body).toMatchObject({ settings });
  const misspelt = { ...request, body: { settings: { agents_may_aquire: false } } };
  expect(await ask(hub.url, misspelt).then(verdict)).toBe("400 invalid_request");
});

test("[WSP-2] workspaces survive a restart", async () => {
  const dataDir = await temporaryDirectory();
  const first = await startTestHub({ dataDir });
  const put = await ask(first.url, {
    method: "PUT",
    path: "/workspaces/lab",
    token: first.operatorToken,
    body: { limits: { maxSessions: 7 } },
  });
  await first.stop();

  const second = await startTestHub({ dataDir });

  expect((await ask(second.url, { path: "/workspaces/lab", token: first.operatorToken })).body).toEqual(put.body);
});

test("[SES-11] reading on from a snapshot's cursor tells exactly what the snapshot does not show", async () => {
  const hub = await startTestHub();
  await create(hub);
  const busy = Array.from({ length: 20 }, () => create(hub));
  const { body: snapshot } = await ask(hub.url, { path: "/snapshot", token: hub.operatorToken });
  await Promise.all(busy);
  await eventually(async () => {
    const all = await ask(hub.url, { path: "/sessions?status=active", token: hub.operatorToken });
    expect(all.body).toHaveLength(21);
  });

  const later = await ask(hub.url, {
    path: `/events?after=${snapshot.eventCursor}&types=status`,
    token: hub.operatorToken,
  });
  const known = new Map<string, string>(snapshot.sessions.map((it: WorkspaceSession) => [it.sessionId, it.status]));
  for (const event of later.body as WorkspaceEvent[]) {
    expect(event.payload.previous).toBe(known.get(event.sessionId));
    known.set(event.sessionId, event.payload.status as string);
  }
  expect([...known.values()]).toEqual(Array.from({ length: 21 }, () => "active"));
});

test("[SES-12, APR-6] reset closes sessions and ends approvals; the sequence goes on", async () => {
  const hub = await startTestHub();
  const { sessionId } = await create(hub);
  const approval = await post(hub, "/approvals", hub.agentToken, {
    kind: "tool",
    payload: { command: "x" },
    sessionId,
  });
  const { body: before } = await ask(hub.url, { path: "/snapshot", token: hub.operatorToken });

  const answer = await post(hub, "/reset", hub.operatorToken);

  expect(answer.body).toEqual({ ok: true, closedSessions: 1, endedApprovals: 1 });
  const { body: after } = await ask(hub.url, { path: "/snapshot", token: hub.operatorToken });
  expect(after.sessions).toMatchObject([{ status: "closed", reason: "reset" }]);
  expect(after.eventCursor).toBeGreaterThan(before.eventCursor);
  expect(
    (await ask(hub.url, { path: `/approvals/${approval.body.requestId}`, token: hub.operatorToken })).body,
  ).toMatchObject({ status: "rejected", approved: false, reason: "reset", resolvedBy: "system" });
});

test("[SES-18] the older names of types and statuses are understood", async () => {
  const hub = await startTestHub();
  const { sessionId } = await create(hub);
  await post(hub, `/sessions/${sessionId}/input`, hub.operatorToken, { data: "x" });
  await post(hub, `/sessions/${sessionId}/close`, hub.operatorToken);
  const read = async (path: string) => (await ask(hub.url, { path, token: hub.operatorToken })).body;

  const types = (it: WorkspaceEvent) => it.type;
  expect((await read("/events?types=terminal_stdout")).map(types)).toEqual(["stdout"]);
  expect((await read("/events?types=terminal_exit,terminal_stdout")).map(types)).toEqual([
    "status",
    "status",
    "stdout",
    "status",
  ]);
  expect(await read("/sessions?status=running")).toEqual([]);
  expect((await read("/sessions?status=ended")).map((it: WorkspaceSession) => it.status)).toEqual(["closed"]);
});

test("[SES-7] once a pause is answered no agent's input gets through, however close they are", async () => {
  for (let round = 0; round < 20; round += 1) {
    const { sessionId } = await create(hub);
    const typing = Array.from({ length: 5 }, () =>
      post(hub, `/sessions/${sessionId}/input`, hub.agentToken, { data: "a" }),
    );
    const paused = post(hub, `/sessions/${sessionId}/pause`, hub.operatorToken).then(() =>
      post(hub, `/sessions/${sessionId}/input`, hub.operatorToken, { data: "|" }),
    );
    await Promise.all([...typing, paused]);
    await post(hub, `/sessions/${sessionId}/close`, hub.operatorToken);

    const output = (await events(hub, sessionId)).flatMap((it) =>
      it.type === "stdout" ? [it.payload.text as string] : [],
    );
    expect(output.join("")).toMatch(/^a*\|$/);
  }
});

test("[SES-10] a limit holds also for those who ask at once", async () => {
  await ask(hub.url, {
    method: "PUT",
    path: "/workspaces/narrow",
    token: hub.operatorToken,
    body: { limits: { maxSessions: 2 } },
  });

  const answers = await Promise.all(
    Array.from({ length: 6 }, () =>
      post(hub, "/sessions", hub.operatorToken, { kind: "terminal", workspaceId: "narrow" }),
    ),
  );

  expect(answers.map(verdict).sort()).toEqual(["201", "201", ...Array.from({ length: 4 }, () => "429 limit_reached")]);
});

test("[SES-8] a person may start a session for an agent, an agent only for itself", async () => {
  const given = await create(hub, { ownerAgentId: "bot" });

  expect(given.ownerAgentId).toBe("bot");
  expect(await post(hub, `/sessions/${given.sessionId}/close`, hub.agentToken).then(verdict)).toBe("200");
  expect(await post(hub, "/sessions", hub.agentToken, { kind: "terminal", ownerAgentId: "other" }).then(verdict)).toBe(
    "403 forbidden",
  );
});

test("[SES-14] lists take a limit and answer the newest", async () => {
  const made = [await create(hub), await create(hub), await create(hub)];

  const { body } = await ask(hub.url, { path: "/sessions?limit=2", token: hub.operatorToken });

  expect(body.map((it: WorkspaceSession) => it.sessionId)).toEqual(made.slice(1).map((it) => it.sessionId));
  expect(await ask(hub.url, { path: "/sessions/nope", token: hub.operatorToken }).then(verdict)).toBe("404 not_found");
});

test("[SES-7] input that races the end of its session is refused or typed, never a fault", async () => {
  const seen = new Set<string>();
  for (let round = 0; round < 10; round += 1) {
    const { sessionId } = await create(hub);
    const type = (token: string) => post(hub, `/sessions/${sessionId}/input`, token, { data: "a" }).then(verdict);
    const typing = Array.from({ length: 8 }, (_, i) => type(i % 2 === 0 ? hub.agentToken : hub.operatorToken));
    const closing = post(hub, `/sessions/${sessionId}/close`, hub.operatorToken);
    for (const it of await Promise.all(typing)) seen.add(it);
    await closing;
    expect((await events(hub, sessionId)).at(-1)?.payload.status).toBe("closed");
  }

  expect([...seen].filter((it) => !["200", "409 invalid_transition", "409 control_refused"].includes(it))).toEqual([]);
});
