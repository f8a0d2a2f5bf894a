import { expect, test } from "vitest";
import type { AskedPrompt } from "../../src/protocol/prompts.ts";
import { evidenceOf, wayOf } from "../../src/web/inbox/prompt-words.ts";

const CHOICES = [
  { key: "1", label: "Yes" },
  { key: "2", label: "No" },
];

const prompt = (more: Partial<AskedPrompt>): AskedPrompt =>
  ({
    class: "NUMBERED_CHOICE",
    kind: "line",
    source: "deterministic",
    disagreement: false,
    choices: CHOICES,
    ...more,
  }) as AskedPrompt;

test.each([
  { it: prompt({}), way: "choices" },
  { it: prompt({ multiple: true }), way: "many" },
  { it: prompt({ class: "FREE_TEXT", choices: [] }), way: "text" },
  { it: prompt({ class: "CHAT_INPUT" }), way: "text" },
  { it: prompt({ class: "RAW_TERMINAL", source: "ml", escalate: true }), way: "terminal" },
  { it: prompt({ class: "FOLDER_TRUST", source: "ml" }), way: "literal" },
  { it: prompt({ class: "YES_NO", disagreement: true, escalate: true }), way: "literal" },
  { it: prompt({ class: "PASSWORD_INPUT", disagreement: true, escalate: true }), way: "secret" },
  { it: prompt({ class: "FREE_TEXT", kind: "password", choices: [] }), way: "secret" },
])("[WEB-49, WEB-45] $it.class by $it.source with echo as for $it.kind is answered by: $way", ({ it, way }) => {
  expect(wayOf(it)).toBe(way);
});

test.each([
  { program: "sudo", kind: "password", words: "sudo waits, echo off" },
  { program: "less", kind: "pager", words: "less waits in a pager" },
  { program: "", kind: "line", words: "Nobody could look who waits." },
])("[WEB-46] what the kernel says of $kind is: $words", ({ program, kind, words }) => {
  expect(evidenceOf(prompt({ program, kind }))).toBe(words);
});
