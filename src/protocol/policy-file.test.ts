import { expect, test } from "vitest";
import type { Policy } from "../domain/policy/policy.ts";
import { fileOf, PolicyFile, policySchema, ruleOf } from "./policy-file.ts";

const BARE = { id: "a", decision: "ask", reason: "because" } as const;

const WHOLE = {
  ...BARE,
  risk: "high",
  actions: ["exec", "send"],
  command: ["git push", "npm publish"],
  options: ["--force"],
  effects: ["push"],
  touches: [{ how: "write", places: ["outside"], paths: ["~/x/**"] }],
  containment: ["open"],
  workspaces: ["web"],
  missing_guard: true,
  timeout: 600,
  on_expiry: "pause",
  match: ["git push"],
  not_match: ["git pull"],
} as const;

const accepts = (rule: object): boolean => PolicyFile.safeParse({ rules: [rule] }).success;

test("[POL-12] a rule of a file becomes a rule, and back, with nothing lost", () => {
  const file = PolicyFile.parse({ extends: "none", default: "ask", unclear: "deny", rules: [BARE, WHOLE] });
  const rules = file.rules.map(ruleOf);

  expect(rules).toEqual([
    BARE,
    {
      ...BARE,
      risk: "high",
      actions: ["exec", "send"],
      command: ["git push", "npm publish"],
      options: ["--force"],
      effects: ["push"],
      touches: [{ how: "write", places: ["outside"], paths: ["~/x/**"] }],
      containment: ["open"],
      workspaces: ["web"],
      missingGuard: true,
      timeoutMs: 600_000,
      onExpiry: "pause",
      match: ["git push"],
      notMatch: ["git pull"],
    },
  ]);
  const policy: Policy = { version: "v", rules, otherwise: "ask", unclear: "deny" };
  expect(fileOf(policy, "global")).toEqual(file);
});

test("[POL-12] one command is as good as a list of one", () => {
  const rule = (command: string | string[]) => ruleOf(PolicyFile.parse({ rules: [{ ...BARE, command }] }).rules[0]!);

  expect(rule("git push")).toEqual(rule(["git push"]));
});

test.each([
  { timeout: "90s", ms: 90_000 },
  { timeout: "10m", ms: 600_000 },
  { timeout: "24h", ms: 86_400_000 },
  { timeout: 1, ms: 1000 },
])("[POL-12] a person has $timeout", ({ timeout, ms }) => {
  const [rule] = PolicyFile.parse({ rules: [{ ...BARE, timeout }] }).rules;

  expect(ruleOf(rule!).timeoutMs).toBe(ms);
});

test.each([
  { wrong: "an unknown field", rule: { ...BARE, comand: "git" } },
  { wrong: "camelCase", rule: { ...BARE, onExpiry: "deny" } },
  { wrong: "a missing reason", rule: { id: "a", decision: "ask" } },
  { wrong: "an unknown decision", rule: { ...BARE, decision: "maybe" } },
  { wrong: "an unknown effect", rule: { ...BARE, effects: ["explode"] } },
  { wrong: "an empty list, which could never match", rule: { ...BARE, command: [] } },
  { wrong: "a relative path", rule: { ...BARE, touches: [{ paths: ["src/x"] }] } },
  { wrong: "a time without a unit that we know", rule: { ...BARE, timeout: "10w" } },
  { wrong: "a time beyond a day", rule: { ...BARE, timeout: "25h" } },
  { wrong: "no time", rule: { ...BARE, timeout: 0 } },
])("[POL-13] $wrong is refused", ({ rule }) => {
  expect([accepts(BARE), accepts(rule)]).toEqual([true, false]);
});

test("[POL-12] the JSON schema knows the fields of a file and lets no other in", () => {
  expect(policySchema()).toMatchObject({
    additionalProperties: false,
    properties: {
      extends: { enum: ["default", "none"] },
      rules: {
        items: { additionalProperties: false, required: ["id", "decision", "reason"], properties: { on_expiry: {} } },
      },
    },
  });
});
