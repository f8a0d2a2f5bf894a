import { expect, test } from "vitest";
import type { Circumstances } from "./action.ts";
import { AT, BY_DEFAULT, judgeText } from "../../../test/support/judging.ts";
import { DEFAULT_POLICY } from "./default-policy.ts";
import { judge } from "./judge.ts";
import type { Policy, Rule } from "./policy.ts";
import type { Decision } from "./verdict.ts";

function policyOf(rules: readonly Rule[], otherwise?: Decision): Policy {
  return { version: "v1", rules, otherwise, unclear: "ask" };
}

function judgeBy(policies: readonly Policy[], text: string, changes: Partial<Circumstances> = {}) {
  return judge({ kind: "exec", text }, { ...AT, ...changes }, { ...BY_DEFAULT, policies });
}

test("[POL-1] a verdict says decision, risk, rule and reason of the whole and of each part, and what it touches", () => {
  expect(judgeText("cat a && sudo ./tool ../x")).toEqual({
    decision: "ask",
    riskLevel: "high",
    rule: "privilege",
    reason: "it gains or gives rights",
    parts: [
      {
        text: "cat a",
        program: "cat",
        effects: ["read"],
        touches: [{ how: "read", path: "/home/u/shop/a", place: "inside" }],
        decision: "auto",
        riskLevel: "low",
        rule: "everyday",
        reason: "reading, building and working inside the workspace",
      },
      {
        text: "sudo ./tool ../x",
        program: "sudo",
        effects: ["privilege"],
        touches: [],
        decision: "ask",
        riskLevel: "high",
        rule: "privilege",
        reason: "it gains or gives rights",
      },
      {
        text: "./tool ../x",
        program: "tool",
        effects: ["script"],
        touches: [{ how: "run", path: "/home/u/shop/tool", place: "inside" }],
        decision: "auto",
        riskLevel: "low",
        rule: "everyday",
        reason: "reading, building and working inside the workspace",
      },
    ],
    touches: [
      { how: "read", path: "/home/u/shop/a", place: "inside" },
      { how: "run", path: "/home/u/shop/tool", place: "inside" },
    ],
    programs: ["cat", "sudo", "./tool"],
    scripts: ["./tool"],
    timeoutMs: undefined,
    onExpiry: "deny",
    policyVersion: "default",
  });
});

test.each([
  ["file_write", "src/a.ts", "auto", "everyday"],
  ["file_write", "/etc/motd", "ask", "elsewhere"],
  ["file_write", "/home/u/.sidestick/policy.yaml", "deny", "ours"],
  ["file_write", ".git/hooks/pre-commit", "ask", "environment"],
  ["file_write", ".env", "ask", "credentials"],
  ["navigate", "https://example.com", "auto", "navigate"],
  ["navigate", "file:///etc/passwd", "ask", "unclear"],
  ["send", "yes\r", "auto", "send"],
  ["opaque_send", "\u001B[A", "auto", "keys_guarded"],
  ["tool", "deploy", "ask", "otherwise"],
  ["plan", "first this", "ask", "otherwise"],
  ["escalation", "open", "ask", "otherwise"],
  ["desktop_input", "x", "ask", "otherwise"],
] as const)("[POL-1, POL-8] %s %s is %s", (kind, text, decision, rule) => {
  expect(judge({ kind, text }, AT, BY_DEFAULT)).toMatchObject({ decision, rule });
});

test("[POL-8] keys that nobody can read ask in a session that isn't guarded", () => {
  const keys = { kind: "opaque_send", text: "\u001B[A\r" } as const;

  expect(judge(keys, { ...AT, containment: "open" }, BY_DEFAULT)).toMatchObject({ decision: "ask", rule: "keys" });
  expect(judge(keys, { ...AT, containment: "user" }, BY_DEFAULT)).toMatchObject({ decision: "ask", rule: "keys" });
});

test.each([
  [["rm", "-rf", "/"], "deny"],
  [["rm", "$x; rm -rf /"], "auto"],
  [["bash", "-c", "rm -rf /"], "deny"],
  [["echo", "$(rm -rf /)"], "auto"],
  [["ls", "*"], "auto"],
  [[], "ask"],
] as const)("[POL-1] words that no shell reads are taken as they are: %j", (argv, decision) => {
  expect(judge({ kind: "remote_command", argv }, AT, BY_DEFAULT).decision).toBe(decision);
});

test.each(["python3 scripts/report.py", "./run.sh", "bash run.sh", "kill 4242"])(
  "[POL-19] %s is auto in a guard and asks outside",
  (text) => {
    expect(judgeText(text).decision).toBe("auto");
    expect(judgeText(text, { containment: "open" }).decision).toBe("ask");
    expect(judgeText(text, { containment: "user" }).decision).toBe("ask");
  },
);

test("[POL-5] after cd a path is judged from both directories", () => {
  expect(judgeText("cd ..; rm b").touches).toEqual([
    { how: "delete", path: "/home/u/shop/b", place: "inside" },
    { how: "delete", path: "/home/u/b", place: "home" },
  ]);
});

test("[POL-5] a subshell's cd is over with it; a loop's may have happened before", () => {
  expect(judgeText("(cd ..; ls); rm b").decision).toBe("auto");
  expect(judgeText("for i in 1 2; do rm b; cd ..; done").decision).toBe("ask");
});

test("[POL-5] where nobody knows the directory, relative paths are unknown", () => {
  expect(judgeText("rm b", { cwd: undefined })).toMatchObject({
    decision: "ask",
    rule: "unclear",
    touches: [{ how: "delete", path: "b", place: "unknown" }],
  });
  expect(judgeText("rm /tmp/b", { cwd: undefined }).decision).toBe("auto");
});

test("[POL-4] home is only known where it is said", () => {
  expect(judgeText("rm -rf ~", { home: undefined })).toMatchObject({ decision: "ask", rule: "unclear" });
});

test("[POL-6] what deceives is its own part, and no rule makes it milder", () => {
  const policies = [policyOf([{ id: "all", decision: "auto", reason: "all" }])];

  expect(judgeBy(policies, "echo a\u202Eb")).toMatchObject({ decision: "ask", rule: "deceptive" });
  expect(judgeBy(policies, "echo a\u202Eb").parts[0]).toMatchObject({ text: "a\u202Eb", effects: ["deceptive"] });
});

test.each(["echo 'größer 日本語 Привет'", "echo '👩‍💻 ⚠️ ok'", "echo 'a — b'"])("[POL-6] %s deceives nobody", (text) => {
  expect(judgeText(text).decision).toBe("auto");
});

test.each([
  ["fish", "rm (cat list)"],
  ["fish", "and rm x"],
  ["fish", "begin; rm x; end"],
  ["fish", String.raw`echo 'a\''; rm x; echo '`],
  ["fish", String.raw`\x72m x`],
  ["fish", "if ls; rm x; end"],
  ["zsh", "rm =(ls)"],
  ["zsh", "rm *(.)"],
  ["zsh", "=rm x"],
  ["zsh", "echo ${(e)x}"],
  ["zsh", "for f (a b) rm $f"],
  ["zsh", "repeat 3 ls"],
  ["dash", "[[ a > b ]]"],
  ["dash", "((x > y))"],
  ["dash", "ls <(pwd)"],
  ["other", "if ls; then pwd; fi"],
] as const)("[POL-9] what means something else in %s is unclear: %s", (dialect, text) => {
  const verdict = judgeText(text, { dialect });

  expect(verdict.decision).toBe("ask");
  expect(verdict.parts.flatMap((part) => part.effects)).toContain("unclear");
});

test.each(["bash", "zsh", "dash", "fish", "other"] as const)(
  "[POL-9] plain commands mean the same in %s",
  (dialect) => {
    expect(judgeText("cd src && npm test | tail -n 5", { dialect }).decision).toBe("auto");
    expect(judgeText("rm -rf /", { dialect }).decision).toBe("deny");
  },
);

test("[POL-17] without its guard, what was auto asks; what was denied stays denied", () => {
  const rule: Rule = { id: "unguarded", decision: "ask", reason: "no guard", missingGuard: true };
  const policies = [{ ...DEFAULT_POLICY, rules: [rule, ...DEFAULT_POLICY.rules] }];

  expect(judgeBy(policies, "ls")).toMatchObject({ decision: "auto", rule: "everyday" });
  expect(judgeBy(policies, "ls", { isGuardMissing: true })).toMatchObject({ decision: "ask", rule: "unguarded" });
  expect(judgeBy(policies, "rm -rf /", { isGuardMissing: true })).toMatchObject({ decision: "deny" });
});

test("[POL-10, POL-11] the first rule that matches decides; of two policies the stricter, and silence says nothing", () => {
  const first: Rule = { id: "first", decision: "auto", reason: "a", command: ["terraform plan"] };
  const second: Rule = { id: "second", decision: "deny", reason: "b", command: ["terraform *"] };
  const stricter: Rule = { id: "stricter", decision: "ask", reason: "c", command: ["terraform plan"], timeoutMs: 5 };

  expect(judgeBy([policyOf([first, second], "ask")], "terraform plan")).toMatchObject({
    decision: "auto",
    rule: "first",
  });
  expect(judgeBy([policyOf([first, second], "ask")], "terraform -v apply")).toMatchObject({ rule: "second" });
  expect(judgeBy([policyOf([first], "ask"), policyOf([stricter])], "terraform plan")).toMatchObject({
    decision: "ask",
    rule: "stricter",
    timeoutMs: 5,
  });
  expect(judgeBy([policyOf([first], "ask"), policyOf([])], "terraform plan").decision).toBe("auto");
  expect(judgeBy([], "ls").decision).toBe("ask");
});

test("[POL-12] a rule that lets through needs all effects and touches to be so; one that asks needs one", () => {
  const fetches: Rule = { id: "fetches", decision: "auto", reason: "a", effects: ["fetch", "read"] };
  const inside: Rule = {
    id: "inside",
    decision: "auto",
    reason: "b",
    touches: [{ how: "delete", places: ["inside"] }],
  };
  const asks: Rule = { id: "asks", decision: "ask", reason: "c", touches: [{ paths: ["~/shop/**/keep"] }] };

  expect(judgeBy([policyOf([fetches], "deny")], "curl https://a.b").decision).toBe("auto");
  expect(judgeBy([policyOf([fetches], "deny")], "curl -d x https://a.b").decision).toBe("deny");
  expect(judgeBy([policyOf([inside], "deny")], "rm a").decision).toBe("auto");
  expect(judgeBy([policyOf([inside], "deny")], "rm a /srv/b").decision).toBe("deny");
  expect(judgeBy([policyOf([asks], "auto")], "cat a b/c/keep").decision).toBe("ask");
});

test("[POL-12] a rule for a program says nothing of redirections and assignments beside it", () => {
  const policies = [
    policyOf([{ id: "plan", decision: "auto", reason: "a", command: ["plan"] }, ...DEFAULT_POLICY.rules], "ask"),
  ];

  expect(judgeBy(policies, "plan").decision).toBe("auto");
  expect(judgeBy(policies, "plan > /etc/motd")).toMatchObject({ decision: "ask", rule: "elsewhere" });
  expect(judgeBy(policies, "LD_PRELOAD=x plan")).toMatchObject({ decision: "ask", rule: "environment" });
  expect(judgeBy(policies, "plan $(frobnicate)").decision).toBe("ask");
});

test.each([
  ["git push", "git push", true],
  ["git push", "git -C x push origin", true],
  ["git push", "git pull", false],
  ["npm install|i|add", "npm i x", true],
  ["docker * rm", "docker image rm x", true],
  ["git push --force", "git push origin --force", true],
  ["git push --force", "git push origin", false],
  ["rm -f", "rm -rf x", true],
  ["rm --force", "rm --forc x", true],
])("[POL-12] %j matches %j: %s", (command, text, isMatch) => {
  const policies = [policyOf([{ id: "it", decision: "deny", reason: "a", command: [command] }], "auto")];

  expect(judgeBy(policies, text).decision).toBe(isMatch ? "deny" : "auto");
});

const EXAMPLES = DEFAULT_POLICY.rules.flatMap(({ id, match = [], notMatch = [] }) => [
  ...match.map((text) => ({ id, text, isMatch: true })),
  ...notMatch.map((text) => ({ id, text, isMatch: false })),
]);

test.each(EXAMPLES)("[POL-13, POL-19] $id: $text ($isMatch)", ({ id, text, isMatch }) => {
  expect(judgeText(text).rule === id).toBe(isMatch);
});
