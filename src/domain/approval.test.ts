import { expect, test } from "vitest";
import { applyApproval, type Approval, type ApprovalStatus, decideApproval } from "./approval.ts";
import type { StoredEvent } from "./event.ts";

const pending: Approval = {
  requestId: "0b8f2d3e-7f50-4c4d-9a58-6f4d8f1d2c10",
  sessionId: "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
  kind: "tool",
  payload: { command: "rm -r build" },
  action: "exec",
  riskLevel: "medium",
  contextHash: "abc",
  requestedBy: "bot",
  requestedAt: "2026-01-02T03:04:05.000Z",
  timeoutMs: 1000,
  expiresAt: "2026-01-02T03:04:06.000Z",
  status: "pending",
  rule: "requested",
};

test.each<[Exclude<ApprovalStatus, "pending">, boolean]>([
  ["approved", true],
  ["rejected", false],
  ["expired", false],
])("[APR-1] a pending approval can end as %s", (status, approved) => {
  expect(decideApproval(pending, { status, resolvedBy: "ann", reason: "because" }, { expired: false })).toEqual({
    ok: true,
    payload: { requestId: pending.requestId, status, approved, resolvedBy: "ann", reason: "because" },
  });
});

test.each<ApprovalStatus>(["approved", "rejected"])("[APR-2] one that is %s stays so", (status) => {
  const decided: Approval = { ...pending, status, resolvedBy: "ann" };

  expect(decideApproval(decided, { status: "approved", resolvedBy: "bob" }, { expired: false })).toEqual({
    ok: false,
    refusal: "approval_decided",
  });
});

test.each(["approved", "rejected"] as const)("[APR-4] after its time a decision %s is refused", (status) => {
  const late = { ok: false, refusal: "approval_expired" };

  expect(decideApproval(pending, { status, resolvedBy: "ann" }, { expired: true })).toEqual(late);
  expect(decideApproval({ ...pending, status: "expired" }, { status, resolvedBy: "ann" }, { expired: true })).toEqual(
    late,
  );
});

test("[APR-5] folding a request and a decision gives the approval; a second decision changes nothing", () => {
  const { sessionId, requestedAt, status: _status, ...ask } = pending;
  const event = (type: StoredEvent["type"], payload: object, timestamp: string): StoredEvent => ({
    type,
    payload: payload as never,
    source: { kind: "person", id: "ann" },
    sequence: 1,
    sessionId,
    timestamp,
  });
  const requested = applyApproval(undefined, event("approval_request", ask, requestedAt));
  const verdict = { requestId: pending.requestId, status: "approved", approved: true, resolvedBy: "ann" };
  const decided = applyApproval(requested, event("approval_decision", verdict, "2026-01-02T03:04:05.500Z"));
  const again = applyApproval(
    decided,
    event("approval_decision", { ...verdict, resolvedBy: "bob" }, "2026-01-02T03:04:05.900Z"),
  );

  expect(requested).toEqual(pending);
  expect(again).toEqual({
    ...pending,
    status: "approved",
    approved: true,
    resolvedBy: "ann",
    resolvedAt: "2026-01-02T03:04:05.500Z",
  });
});
