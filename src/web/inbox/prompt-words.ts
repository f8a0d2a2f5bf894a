/** What is known of a program's question, in words. */
import type { AskedPrompt } from "../../protocol/prompts.ts";

type Choice = AskedPrompt["choices"][number];

export function askerOf({ program }: AskedPrompt): string {
  return program === "" ? "A program" : program;
}

/** Who waits and how, by the kernel. */
export function evidenceOf({ program, kind }: AskedPrompt): string {
  if (program === "") return "Nobody could look who waits.";
  return `${program} waits${KINDS[kind] ?? ""}`;
}

const KINDS: Readonly<Record<string, string>> = {
  line: " for a line",
  password: ", echo off",
  line_editor: " in a line editor",
  pager: " in a pager",
  editor: " in an editor",
  tui: " with a dialog on the screen",
  opaque: ", but can't be looked into",
};

export const CONFIDENCES = { HIGH: "high", MED: "medium", LOW: "low" } as const;

/** How it is answered from a card. `literal`: what is typed goes in as it is, for the class is not sure. */
export type Way = "secret" | "terminal" | "literal" | "many" | "choices" | "text";

export function wayOf({ class: kind, kind: waits, source, disagreement, multiple, choices }: AskedPrompt): Way {
  if (kind === "PASSWORD_INPUT" || waits === "password") return "secret";
  if (kind === "RAW_TERMINAL") return "terminal";
  if (source === "ml" || disagreement) return "literal";
  if (choices.length === 0 || kind === "FREE_TEXT" || kind === "CHAT_INPUT") return "text";
  return multiple === true ? "many" : "choices";
}

export function isDefault({ key, label, types }: Choice, { default: means }: AskedPrompt): boolean {
  return means !== undefined && [key, label, types].includes(means);
}

export function choiceText({ key, label }: Choice): string {
  if (label === "" || label.toLowerCase() === key.toLowerCase()) return key;
  return `${key}  ${label}`;
}

/** What became of it. */
export function answerText({ status, answered_by }: AskedPrompt): string {
  return status === "answered" ? `Answered by ${answered_by ?? "somebody"}` : "No longer asked";
}

export const OUTCOMES: Readonly<Record<NonNullable<AskedPrompt["outcome"]>, string>> = {
  advanced: "",
  sent: "",
  escalated: "Look at the terminal.",
  unknown: "Whether the answer went in can't be known: look at the terminal.",
};
