import { expect, test } from "vitest";
import type { Approval } from "../../src/domain/approval.ts";
import type { WorkspaceEvent } from "../../src/protocol/events.ts";
import { decisionText } from "../../src/web/inbox/approval-words.ts";
import { askedIn } from "../../src/web/model/pending.ts";
import { applyEvent, EMPTY_WORLD } from "../../src/web/model/world.ts";

const decided = (more: Partial<Approval>): Approval => ({ requestId: "r", ...more }) as Approval;

test.each([
  { it: decided({ status: "approved", resolvedBy: "ann" }), words: "Approved by ann" },
  {
    it: decided({ status: "approved", resolvedBy: "ann", edit: { command: "true" }, reason: "safer" }),
    words: "Approved by ann, as edited: safer",
  },
  { it: decided({ status: "rejected", resolvedBy: "ann", reason: "not now" }), words: "Denied by ann: not now" },
  {
    it: decided({ status: "rejected", resolvedBy: "system", reason: "stopped" }),
    words: "Ended: stopped, the agent was told to stop",
  },
  {
    it: decided({ status: "rejected", resolvedBy: "system", reason: "session_closed" }),
    words: "Ended: the session was closed",
  },
  { it: decided({ status: "expired" }), words: "Expired: nobody decided in time, and nothing was run" },
])("[WEB-42] a card that was decided says: $words", ({ it, words }) => {
  expect(decisionText(it)).toBe(words);
});

test("[WEB-42] what runs out of time waits no longer, and says so", () => {
  const told = (type: WorkspaceEvent["type"], payload: WorkspaceEvent["payload"]): WorkspaceEvent => {
    const source = { kind: "system", id: "system" } as const;
    return { sequence: 1, sessionId: "s", type, timestamp: "2026-01-01T00:00:00.000Z", payload, source };
  };
  const asked = applyEvent(EMPTY_WORLD, told("approval_request", { requestId: "r" }));
  const over = applyEvent(asked, told("approval_decision", { requestId: "r", status: "expired" }));

  expect([asked, over].map((it) => askedIn(it).map(({ waits }) => waits))).toEqual([[true], [false]]);
  expect(decisionText(over.approvals.get("r")!)).toMatch(/^Expired: nobody decided in time/);
});
