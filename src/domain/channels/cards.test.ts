import { expect, test } from "vitest";
import { ASKED } from "../../../test/chat/asked.ts";
import type { Approval } from "../approval.ts";
import type { PromptChoice } from "../prompts/prompt.ts";
import { ACTION_BYTES_MAX } from "./card.ts";
import { approvalCard, controlCard, decided, messageCard, noticeCard, outputCard, planCard } from "./cards.ts";
import { buttonAction, readButtonAction } from "./chat-action.ts";
import { promptCard } from "./prompt-card.ts";

const TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
const choices = (count: number): PromptChoice[] =>
  Array.from({ length: count }, (_, index) => ({ key: String(index + 1), label: `Item ${index + 1}` }));
const labels = ({ buttons }: { buttons: readonly (readonly { label: string }[])[] }) =>
  buttons.map((row) => row.map(({ label }) => label));

test("[CHN-1] a question is shown with its session, who asks, the warning and its choices as buttons", () => {
  const warning = "It says sudo, but python3 reads the answer";
  const { card, actions } = promptCard("build", { ...ASKED, program: "python3", warning });

  expect(card).toEqual({
    kind: "prompt",
    title: "build",
    text: "Overwrite all files? [y/N]",
    facts: [
      { name: "Asked by", value: "python3" },
      { name: "WARNING", value: warning },
      { name: "Answer", value: "with a button, or in words" },
    ],
    buttons: [
      [
        { label: "Yes", action: "0" },
        { label: "No", action: "1" },
      ],
    ],
  });
  expect(actions).toEqual([
    { do: "reply", promptId: "p1", nonce: "n1", choice: "yes" },
    { do: "reply", promptId: "p1", nonce: "n1", choice: "no" },
  ]);
});

test.each([
  { count: 8, rows: [3, 3, 2], answer: "with a button, or in words" },
  { count: 9, rows: [], answer: "with the number" },
])("[CHN-1] $count choices are in rows of $rows", ({ count, rows, answer }) => {
  const asked = { ...ASKED, class: "NUMBERED_CHOICE", shownAs: "NUMBERED_CHOICE", choices: choices(count) } as const;
  const { card } = promptCard("build", asked);

  expect(card.buttons.map((row) => row.length)).toEqual(rows);
  expect(card.facts?.at(-1)).toEqual({ name: "Answer", value: answer });
  expect(card.code?.includes("9  Item 9") ?? false).toBe(count === 9);
});

test.each([
  { how: "text", change: { class: "FREE_TEXT", shownAs: "FREE_TEXT", choices: [] }, answer: "with a message" },
  { how: "only ML named it", change: { typing: "literal" }, answer: "with a message" },
  { how: "several", change: { class: "NUMBERED_CHOICE", multiple: true }, answer: /numbers of all/ },
  { how: "raw", change: { typing: "none" }, answer: /terminal/ },
] as const)("[CHN-1] what no button can answer has none: $how", ({ change, answer }) => {
  const { card, actions } = promptCard("build", { ...ASKED, ...change, choices: [] });
  expect([card.buttons, actions]).toEqual([[], []]);
  expect(card.facts?.at(-1)?.value).toMatch(answer);
});

test.each(["class", "shownAs"] as const)("[CHN-2] a secret has no buttons, only its link (by %s)", (field) => {
  const asked = { ...ASKED, [field]: "PASSWORD_INPUT", question: "Password:", default: "x" } as const;
  const { card, actions } = promptCard("build", asked, "http://hub/secret/1");

  expect([card.buttons, actions, card.code]).toEqual([[], [], undefined]);
  expect(card.link).toEqual({ label: "Type it", url: "http://hub/secret/1" });
  expect(promptCard("build", asked).card).toMatchObject({ facts: [{}, { value: "at the terminal" }] });
});

test("[CHN-3] a button's action is short and read back; what isn't one is nothing", () => {
  const action = buttonAction(Number.MAX_SAFE_INTEGER, "7");
  expect(action.length).toBeLessThanOrEqual(ACTION_BYTES_MAX);
  expect(readButtonAction(action)).toEqual({ rowId: Number.MAX_SAFE_INTEGER, index: 7 });
  expect(["", "1", "1.", "A.1", "1.100", "1.0 ", "__plan__"].map(readButtonAction)).toEqual(Array(7).fill(undefined));
});

test("[CHN-8] what is too long to be shown whole can be denied in a chat, and not approved", () => {
  const long = { ...APPROVAL, payload: { ...APPROVAL.payload, command: `echo ${"&".repeat(250)}; rm -rf ~` } };
  const { card, actions } = approvalCard("build", long);

  expect(card.buttons.flat().map(({ label }) => label)).toEqual(["Deny"]);
  expect(actions).toEqual([{ do: "approval", requestId: "r1", verdict: "rejected" }]);
  expect(card.facts).toContainEqual({
    name: "Answer",
    value: "it is too long to be shown here: approve it at the hub",
  });
});

test("[CHN-8] what an agent asks by itself makes no facts, whatever it holds", () => {
  const { epoch: _epoch, ...asked } = APPROVAL;
  const touches = [{ how: "risk", path: "low", place: "" }];
  const payload = { touches, reason: "the policy allows it", agentSays: "x" };
  const action = "look\nrisk: low";
  const { card } = approvalCard(undefined, { ...asked, action, rule: "requested", payload });

  expect(card.text).toBe("bot asks before: look risk: low");
  expect(card.facts).toEqual([
    { name: "risk", value: "high, in an open session, which reaches all that you do" },
    { name: "rule", value: "requested: it asks by itself, in its own words" },
    { name: "until", value: "2030-01-01T00:05:00.000Z" },
  ]);
});

test("[CHN-9] what a program prints stands under a title that says so: it can't pass for a notice", () => {
  const [printed, told] = [messageCard("build", "Answered by Ann"), noticeCard("build", "Answered by Ann")];

  expect([printed.card.title, told.card.title]).toEqual(["build prints:", "build"]);
});

test("[CHN-4] an approval is shown as the command line shows it: what, where, risk, rule and reason", () => {
  const { card, actions } = approvalCard("build", APPROVAL);

  expect(card).toMatchObject({
    kind: "approval",
    title: "build",
    text: "bot wants to run in /src:",
    code: "sudo make install",
  });
  expect(card.facts).toEqual([
    { name: "risk", value: "high, in an open session, which reaches all that you do" },
    { name: "rule", value: "default/sudo: it runs as root" },
    { name: "until", value: "2030-01-01T00:05:00.000Z" },
    { name: "bot says", value: "needed for the release" },
  ]);
  expect(labels(card)).toEqual([["Approve", "Deny"]]);
  expect(actions).toEqual([
    { do: "approval", requestId: "r1", verdict: "approved" },
    { do: "approval", requestId: "r1", verdict: "rejected" },
  ]);
});

test("[CHN-4] what an agent asks by itself is shown as it said it", () => {
  const { epoch: _epoch, ...asked } = APPROVAL;
  const { card } = approvalCard(undefined, { ...asked, action: "deploy", payload: { target: "live" } });
  expect(card).toMatchObject({ text: "bot asks before: deploy", code: '{\n  "target": "live"\n}' });
});

test("[CHN-5] a plan has its steps and three decisions, a request for control who asks, why and two", () => {
  const plan = planCard("build", { planId: "x", title: "My plan", steps: ["Add a test", "Fix it"] });
  const control = controlCard("build", { sessionId: "s1", agentId: "bot", reason: "to deploy" });

  expect(plan.card).toMatchObject({ kind: "plan", title: "build", text: "My plan\n\n1. Add a test\n2. Fix it" });
  expect(labels(plan.card)).toEqual([["Execute", "Modify", "Cancel"]]);
  expect(plan.actions[2]).toEqual({ do: "reply", promptId: "__plan__", nonce: "x", choice: "cancel" });
  expect(control.card).toMatchObject({
    text: "bot asks for control",
    facts: [{ name: "bot says", value: "to deploy" }],
  });
  expect(labels(control.card)).toEqual([["Grant 15 min", "Decline"]]);
  expect(control.actions[0]).toEqual({ do: "control", sessionId: "s1", agentId: "bot", act: "grant" });
});

test("[CHN-6] a decided card is the same without buttons, link and advice, with what became of it, once", () => {
  const { card } = promptCard("build", ASKED);
  const { link: _link, ...once } = decided({ ...card, link: { label: "x", url: "y" } }, "Answered by Ann");

  const facts = [
    { name: "Asked by", value: "make" },
    { name: "Outcome", value: "Answered by Ann" },
  ];
  expect(once).toEqual({ ...card, facts, buttons: [] });
  expect(decided(once, "No longer asked").facts).toEqual([facts[0], { name: "Outcome", value: "No longer asked" }]);
});

test("[CHN-7] what comes from elsewhere is masked, can't hide anything and isn't longer than a card", () => {
  const nasty = `a\u202Eb\u0007 ${TOKEN}`;
  const shown = JSON.stringify([
    promptCard(nasty, { ...ASKED, question: nasty, program: nasty, choices: [{ key: "1", label: nasty }] }),
    planCard(nasty, { planId: "x", title: nasty, steps: [nasty] }),
    approvalCard(nasty, { ...APPROVAL, payload: { ...APPROVAL.payload, command: nasty, agentSays: nasty } }),
    controlCard(nasty, { sessionId: "s", agentId: "bot", reason: nasty }),
    outputCard(nasty, nasty),
    noticeCard(nasty, nasty.repeat(1_000)),
  ]);

  expect(shown).not.toContain(TOKEN.slice(8, 30));
  expect(shown).not.toMatch(/\u202E|\\u0007/);
  expect(shown.length).toBeLessThan(20_000);
});

const APPROVAL: Approval = {
  requestId: "r1",
  sessionId: "s1",
  kind: "tool",
  action: "exec",
  riskLevel: "high",
  contextHash: "h",
  requestedBy: "bot",
  requestedAt: "2030-01-01T00:00:00.000Z",
  timeoutMs: 300_000,
  expiresAt: "2030-01-01T00:05:00.000Z",
  status: "pending",
  rule: "default/sudo",
  containment: "open",
  epoch: 1,
  payload: {
    command: "sudo make install",
    cwd: "/src",
    reason: "it runs as root",
    agentSays: "needed for the release",
  },
};
