import { expect, test } from "vitest";
import { type PendingPrompt, PROMPT_TTL_MS, refuseReply } from "./pending-prompt.ts";

const pending: PendingPrompt = {
  promptId: "s1.7",
  sessionId: "s1",
  nonce: "n1",
  expiresAt: PROMPT_TTL_MS,
  answered: false,
};
const reply = { promptId: "s1.7", sessionId: "s1", nonce: "n1", at: 1_000, allowed: true };

test("[PMT-62] no duplicate injection: the first reply passes, the second and an old button don't", () => {
  expect(refuseReply(pending, reply)).toBeUndefined();
  expect(refuseReply({ ...pending, answered: true }, reply)).toBe("answered");
  expect(refuseReply(pending, { ...reply, nonce: "n0" })).toBe("stale_nonce");
});

test("[PMT-63] no expired injection: the expiry is the first instant that is too late", () => {
  expect(refuseReply(pending, { ...reply, at: PROMPT_TTL_MS - 1 })).toBeUndefined();
  expect(refuseReply(pending, { ...reply, at: PROMPT_TTL_MS })).toBe("expired");
});

test("[PMT-64] no cross-session injection", () => {
  expect(refuseReply(pending, { ...reply, sessionId: "s2" })).toBe("other_session");
  expect(refuseReply(pending, { ...reply, promptId: "s1.8" })).toBe("unknown_prompt");
});

test("[PMT-65] no unauthorized injection, and nothing else is said", () => {
  expect(refuseReply({ ...pending, answered: true }, { ...reply, allowed: false, sessionId: "s2" })).toBe(
    "not_allowed",
  );
});
