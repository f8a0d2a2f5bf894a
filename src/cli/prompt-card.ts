/** What a person reads before they answer a program: its words, who really asks, and what can be answered (PMT-121). */
import { WANTED } from "../domain/prompts/wanted.ts";
import type { AskedPrompt } from "../client/sidestick.ts";
import { timeUntil } from "./age.ts";
import { printable } from "./printable.ts";

export function promptCard(prompt: AskedPrompt): string {
  const { question, program, kind, confidence, choices, expires_at, status, warning, escalate } = prompt;
  const lines = [
    `${whoOf(prompt)} asks in ${whereOf(prompt)}:`,
    "",
    `    ${question === "" ? "(it says nothing)" : question}`,
    "",
    `kind     ${WANTED[prompt.class]}${confidence === "HIGH" ? "" : `, as far as can be told (${confidence.toLowerCase()})`}`,
    `seen     ${program === "" ? "nobody could look who waits" : `${program} waits (${kind})`}`,
    ...choices.map((it) => `${it.highlighted === true ? ">" : " "}        ${choiceLine(it)}`),
    ...(prompt.default === undefined ? [] : [`default  ${prompt.default}`]),
    ...(status === "pending" ? [`time     ${timeUntil(expires_at)} left`] : [`state    ${status}`]),
    ...(escalate ? ["", "It can't be told for sure what is asked: look at the terminal before you answer."] : []),
    ...(warning === undefined ? [] : ["", `WARNING: ${warning}`]),
  ];
  return lines.map(printable).join("\n");
}

export function whereOf({ conversation_id, session_id }: AskedPrompt): string {
  return conversation_id ?? `session ${session_id.slice(0, 8)}`;
}

function whoOf({ program }: AskedPrompt): string {
  return program === "" ? "A program" : program;
}

function choiceLine({ key, label, checked }: AskedPrompt["choices"][number]): string {
  const box = checked === undefined ? "" : checked ? "[x] " : "[ ] ";
  return label === "" || label.toLowerCase() === key.toLowerCase() ? `${box}${key}` : `${box}${key}  ${label}`;
}
