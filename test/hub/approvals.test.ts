import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { ApprovalRequest } from "../../src/protocol/approvals.ts";
import { openTestHub, startTestHub, tokenOf, type TestHub } from "../support/hub.ts";
import { ask, verdict } from "../support/http.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { eventually } from "../support/eventually.ts";

/** For all that leave others alone. */
let hub: TestHub;
beforeAll(async () => {
  hub = await openTestHub();
  return hub.stop;
});

const request = (hub: TestHub, body: object = {}) =>
  ask(hub.url, {
    method: "POST",
    path: "/approvals",
    token: hub.agentToken,
    body: { kind: "tool", payload: { command: "rm -r build" }, ...body },
  });

const resolve = (hub: TestHub, requestId: string, body: object, token = hub.operatorToken) =>
  ask(hub.url, { method: "POST", path: `/approvals/${requestId}/resolve`, token, body });

const get = (hub: TestHub, requestId: string) =>
  ask(hub.url, { path: `/approvals/${requestId}`, token: hub.operatorToken });

test("[APR-1] a request is pending with the published fields and 300 s to live", async () => {
  const hub = await startTestHub();

  const { status, body } = await request(hub);

  expect(status).toBe(201);
  expect(ApprovalRequest.strict().parse(body)).toEqual(body);
  expect(body).toMatchObject({
    kind: "tool",
    status: "pending",
    requestedBy: "bot",
    timeoutMs: 300_000,
    payload: { command: "rm -r build" },
  });
  expect(Math.abs(Date.parse(body.expiresAt) - Date.parse(body.requestedAt) - 300_000)).toBeLessThan(1000);
  expect((await ask(hub.url, { path: "/approvals?status=pending", token: hub.operatorToken })).body).toEqual([body]);
});

test.each([0, -1, 24 * 3600 * 1000 + 1, 1.5])("[APR-1] a timeout of %d ms is refused", async (timeoutMs) => {
  expect(await request(hub, { timeoutMs }).then(verdict)).toBe("400 invalid_request");
});

test("[APR-2] of ten decisions at once exactly one is recorded, and the others learn whose", async () => {
  const hub = await startTestHub();
  const deciders = await Promise.all(
    ["ann", "bob", "cat", "dan", "eve"].map((name) => tokenOf(hub.dataDir, "operator", name)),
  );
  const { body } = await request(hub);

  const answers = await Promise.all(
    [...deciders, ...deciders].map((token, i) =>
      resolve(hub, body.requestId, { status: i % 2 === 0 ? "approved" : "rejected" }, token),
    ),
  );

  const won = answers.filter((it) => it.status === 200);
  const { resolvedBy } = (await get(hub, body.requestId)).body;
  expect(won).toHaveLength(1);
  expect(won[0]?.body.resolvedBy).toBe(resolvedBy);
  expect(answers.filter((it) => it.status !== 200).map((it) => [verdict(it), it.body.resolvedBy])).toEqual(
    Array.from({ length: 9 }, () => ["409 approval_decided", resolvedBy]),
  );
  const decisions = await ask(hub.url, { path: "/events?types=approval_decision", token: hub.operatorToken });
  expect(decisions.body).toHaveLength(1);
});

test("[APR-3] approved and rejected at once is refused", async () => {
  const { body } = await request(hub);

  expect(await resolve(hub, body.requestId, { status: "rejected", approved: true }).then(verdict)).toBe(
    "400 invalid_request",
  );
  expect(
    await resolve(hub, body.requestId, { status: "approved", approved: true, reason: "fine" }).then((it) => it.body),
  ).toMatchObject({ status: "approved", approved: true, reason: "fine", resolvedBy: "olga" });
});

test("[APR-4] what nobody decides expires by itself and stays so", async () => {
  const { body } = await request(hub, { timeoutMs: 50 });

  await eventually(async () =>
    expect((await get(hub, body.requestId)).body).toMatchObject({
      status: "expired",
      approved: false,
      resolvedBy: "system",
    }),
  );
  expect(await resolve(hub, body.requestId, { status: "approved" }).then(verdict)).toBe("403 approval_expired");
});

test("[APR-5] over a restart the pending stay pending, the overdue are expired, the decided stay decided", async () => {
  const dataDir = await temporaryDirectory();
  const first = await startTestHub({ dataDir });
  const pending = await request(first);
  const overdue = await request(first, { timeoutMs: 1000 });
  const decided = await request(first);
  const decision = await resolve(first, decided.body.requestId, { status: "rejected" });
  await first.stop();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse(overdue.body.expiresAt) + 1 });
  onTestFinished(() => void vi.useRealTimers());

  const second = await startTestHub({ dataDir });

  await eventually(async () => expect((await get(second, overdue.body.requestId)).body.status).toBe("expired"));
  expect((await get(second, pending.body.requestId)).body).toEqual(pending.body);
  expect((await get(second, decided.body.requestId)).body).toEqual(decision.body);
  expect(await resolve(second, pending.body.requestId, { status: "approved" }).then(verdict)).toBe("200");
});

test("[APR-6] closing a session ends its approvals and no others", async () => {
  const session = await ask(hub.url, {
    method: "POST",
    path: "/sessions",
    token: hub.operatorToken,
    body: { kind: "terminal" },
  });
  const { sessionId } = session.body;
  const its = await request(hub, { sessionId });
  const other = await request(hub);

  await ask(hub.url, { method: "POST", path: `/sessions/${sessionId}/close`, token: hub.operatorToken });

  await eventually(async () =>
    expect((await get(hub, its.body.requestId)).body).toMatchObject({
      status: "rejected",
      approved: false,
      reason: "session_closed",
      resolvedBy: "system",
    }),
  );
  expect((await get(hub, other.body.requestId)).body.status).toBe("pending");
  expect(await request(hub, { sessionId }).then(verdict)).toBe("409 invalid_transition");
});

test("[APR-7] an agent may have twenty pending, also when it asks for them at once", async () => {
  const hub = await startTestHub();

  const answers = await Promise.all(Array.from({ length: 25 }, () => request(hub)));

  expect(answers.map(verdict).sort()).toEqual([
    ...Array.from({ length: 20 }, () => "201"),
    ...Array.from({ length: 5 }, () => "429 limit_reached"),
  ]);
});

test("[APR-8] agents, viewers and hosts can't decide", async () => {
  const { body } = await request(hub);

  for (const role of ["agent", "viewer", "host"] as const) {
    const token = await tokenOf(hub.dataDir, role, "mallory");
    expect(await resolve(hub, body.requestId, { status: "approved" }, token).then(verdict)).toBe("403 forbidden");
  }
  expect((await get(hub, body.requestId)).body.status).toBe("pending");
});

test("[APR-6] approvals of a session that was lost in a restart end with it", async () => {
  const dataDir = await temporaryDirectory();
  const first = await startTestHub({ dataDir });
  const body = { kind: "terminal", title: "lost on restart" };
  const session = await ask(first.url, { method: "POST", path: "/sessions", token: first.operatorToken, body });
  const { requestId } = (await request(first, { sessionId: session.body.sessionId })).body;
  await first.stop();

  const second = await startTestHub({ dataDir });

  await eventually(async () =>
    expect((await get(second, requestId)).body).toMatchObject({ status: "rejected", reason: "session_closed" }),
  );
  expect((await resolve(second, requestId, { status: "approved" })).body).toMatchObject({
    code: "approval_decided",
    decision: "rejected",
    resolvedBy: "system",
  });
});
