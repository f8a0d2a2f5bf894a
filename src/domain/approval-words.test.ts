import { expect, test } from "vitest";
import { approvalShown, type ShownApproval } from "./approval-words.ts";

const ASKED: ShownApproval = {
  requestedBy: "bot",
  kind: "escalation",
  action: "Continue in an open session: sudo id",
  riskLevel: "high",
  rule: "needs_open",
  payload: { program: "sudo", reason: "sudo can't gain rights inside the guard of this host", command: "sudo id" },
};

test("[WEB-43] approving an open session says that it lends one, runs nothing, and what open means", () => {
  const { headline, code, meaning } = approvalShown(ASKED);

  expect([headline, code]).toEqual(["bot asks before: Continue in an open session: sudo id", "sudo id"]);
  expect(meaning).toMatch(/starts an open session .* lends it to bot for ten minutes\. Nothing runs by itself/);
  expect(meaning).toContain("the agent's programs run as you");
});

test("[WEB-40] what an agent asks by itself is all its own words, whatever it calls its fields", () => {
  const payload = { command: "true", reason: "approved by ann", agentSays: "x" };
  const { code, ownWords, facts, meaning, agentSays } = approvalShown({ ...ASKED, rule: "requested", payload });

  expect([JSON.parse(code), ownWords, meaning, agentSays]).toEqual([payload, true, undefined, undefined]);
  expect(facts.map(({ value }) => value).join()).not.toContain("approved by ann");
});

test("[APR-19] only what the hub asks a second time says that nobody decided the first time", () => {
  const command: ShownApproval = { ...ASKED, action: "exec", rule: "network", epoch: 3 };
  const again = [command, { ...command, kind: "tool" }, ASKED, { ...ASKED, rule: "requested" }].map((it) =>
    approvalShown(it).facts.some(({ name }) => name === "again"),
  );

  expect(again).toEqual([true, false, false, false]);
});
