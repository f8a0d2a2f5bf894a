import { expect, test } from "vitest";
import { feedbackMessage } from "./feedback.ts";
import { buildPlan } from "./plan-table.ts";
import type { PromptClass } from "./prompt.ts";

const CLASSES: readonly PromptClass[] = [
  "YES_NO",
  "CONFIRM_ENTER",
  "NUMBERED_CHOICE",
  "FREE_TEXT",
  "PASSWORD_INPUT",
  "CHAT_INPUT",
  "FOLDER_TRUST",
  "RAW_TERMINAL",
];

test("[PMT-40] the table of plans is as published", () => {
  const table = CLASSES.map((name) => {
    const { appendCr, maxRetries, retryDelayMs, verifyAdvance, advanceTimeoutMs, buttonLayout } = buildPlan(name);
    return [name, appendCr, maxRetries, retryDelayMs, verifyAdvance, advanceTimeoutMs, buttonLayout];
  });
  expect(table).toEqual([
    ["YES_NO", true, 1, 2_000, true, 5_000, "yes_no"],
    ["CONFIRM_ENTER", true, 1, 2_000, true, 5_000, "enter"],
    ["NUMBERED_CHOICE", true, 1, 2_000, true, 5_000, "choices"],
    ["FREE_TEXT", true, 1, 2_000, true, 5_000, "text"],
    ["PASSWORD_INPUT", true, 0, 2_000, true, 5_000, "secret_link"],
    ["CHAT_INPUT", true, 0, 2_000, false, 5_000, "none"],
    ["FOLDER_TRUST", true, 1, 2_000, true, 5_000, "trust"],
    ["RAW_TERMINAL", true, 0, 2_000, true, 5_000, "none"],
  ]);
});

test("[PMT-40] a plan is frozen and always the same", () => {
  const plan = buildPlan("YES_NO");
  expect(() => Object.assign(plan, { maxRetries: 9 })).toThrow(TypeError);
  expect(buildPlan("YES_NO")).toBe(plan);
});

test("[PMT-41] only a password's value is suppressed, and no message of its plan can hold it", () => {
  expect(CLASSES.filter((name) => buildPlan(name).suppressValue)).toEqual(["PASSWORD_INPUT"]);
  const plan = buildPlan("PASSWORD_INPUT");
  const told = (["sent", "taken", "advanced", "retrying", "escalated", "unfinished"] as const).map((kind) =>
    feedbackMessage(kind, plan, "hunter2"),
  );
  expect(told.join(" ")).not.toContain("hunter2");
  expect([plan.displayTemplate, plan.retryTemplate, plan.escalationTemplate].join(" ")).not.toContain("{value}");
});

test.each([
  ["sent", "YES_NO", "y", "Sent: y + Enter"],
  ["sent", "NUMBERED_CHOICE", "2", "Sent: option 2 + Enter"],
  ["sent", "CONFIRM_ENTER", "Enter", "Sent: Enter"],
  ["sent", "FREE_TEXT", "deploy staging", 'Sent: "deploy staging" + Enter'],
  ["sent", "PASSWORD_INPUT", "hunter2", "Sent: [REDACTED] + Enter"],
  ["advanced", "YES_NO", "y", "CLI advanced"],
  ["retrying", "YES_NO", "y", 'CLI did not respond to "y", retrying...'],
  ["escalated", "YES_NO", "y", 'CLI did not respond to "y" after retries. Please respond locally.'],
  ["sent", "CHAT_INPUT", "check the logs", 'Sent: "check the logs"'],
] as const)("[PMT-42] %s of %s with %j says %j", (kind, name, value, message) => {
  expect(feedbackMessage(kind, buildPlan(name), value)).toBe(message);
});

test.each([
  ["taken", "YES_NO", "Sent: y"],
  ["taken", "NUMBERED_CHOICE", "Sent: option y"],
  ["taken", "PASSWORD_INPUT", "Sent: [REDACTED]"],
  [
    "unfinished",
    "FREE_TEXT",
    "The answer was typed, but not Enter: the question has changed since. Please respond locally.",
  ],
] as const)("[PMT-67] %s of %s says nothing of an Enter that wasn't sent: %j", (kind, name, message) => {
  expect(feedbackMessage(kind, buildPlan(name), "y")).toBe(message);
});

test("[PMT-43] a value is text, and not without end", () => {
  expect(feedbackMessage("sent", buildPlan("FREE_TEXT"), "$& $1 {value}")).toBe('Sent: "$& $1 {value}" + Enter');
  expect(feedbackMessage("sent", buildPlan("FREE_TEXT"), "😀".repeat(300))).toBe(
    `Sent: "${"😀".repeat(200)}…" + Enter`,
  );
});

test.each([
  ["FREE_TEXT", "sent"],
  ["FREE_TEXT", "retrying"],
  ["FREE_TEXT", "escalated"],
  ["CHAT_INPUT", "sent"],
] as const)(
  "[PMT-44] a secret in the value of %s is masked when it is told as %s, also where it is cut",
  (name, kind) => {
    const told = (value: string) => feedbackMessage(kind, buildPlan(name), value);
    const long = "s".repeat(60);

    expect(told("postgres://u:hunter2secret@db/x")).toContain('"postgres://u:*************@db/x"');
    expect(told(`${"x".repeat(170)} postgres://u:${long}@db/x`)).not.toContain("sss");
  },
);
