/** What a person reads before they decide, for a terminal: what the agent says stands at the end, fenced, far from the question. */
import type { ApprovalRequest } from "../client/sidestick.ts";
import { whatCameOf } from "../domain/approval-outcome.ts";
import { editDiff } from "../domain/edit-diff.ts";
import {
  agentWords,
  approvalCommand,
  approvalFacts,
  approvalHeadline,
  commandOf,
  isTyped,
} from "../domain/approval-words.ts";
import { timeUntil } from "./age.ts";
import { printable, printableText } from "./printable.ts";

export function approvalCard(approval: ApprovalRequest): string {
  const { requestedBy, expiresAt, status, edit } = approval;
  const agentSays = agentWords(approval);
  const lines = [
    approvalHeadline(approval),
    "",
    ...indented(approvalCommand(approval)),
    ...(edit === undefined ? [] : ["", "approved instead:", "", ...indented(edit.command)]),
    "",
    ...approvalFacts(approval).map(({ name, value }) => `${name.padEnd(8)} ${value}`),
    ...(status === "pending" ? [`time     ${timeUntil(expiresAt)} left`] : []),
    ...(agentSays === undefined ? [] : ["", `${requestedBy} says (its own words):`, ...fenced(agentSays)]),
  ];
  return lines.map(printable).join("\n");
}

export function editDiffText(before: string, after: string): string {
  return editDiff(before, after)
    .map(({ sign, text }) => printable(`${sign} ${text}`))
    .join("\n");
}

/** What came of a decision, in one line. */
export function outcomeLine(approval: ApprovalRequest): string {
  const { status, edit, requestedBy, resolvedBy = "nobody", reason } = approval;
  const asked = `(${commandOf(approval)}, asked by ${requestedBy})`;
  if (status === "expired") return printable(`expired: nobody decided in time ${asked}`);
  const decided = `${status} by ${resolvedBy}`;
  if (status !== "approved") return printable(`${decided}${reason === undefined ? "" : `: ${reason}`} ${asked}`);
  return printable(`${decided}${edit === undefined ? "" : ", as edited"}${cameOfText(approval)}`);
}

function cameOfText(approval: ApprovalRequest): string {
  const { outcome, words = "" } = whatCameOf(approval) ?? {};
  if (outcome === undefined) return "";
  if (outcome !== "run") return outcome === "unknown" ? `; ${words}` : `, but ${words}`;
  const { conversationId } = approval.payload as { readonly conversationId?: string };
  const seq = approval.result?.["seq"];
  const isFound = !isTyped(approval) && conversationId !== undefined && typeof seq === "number";
  return `: ${words}${isFound ? `; see: sidestick output ${conversationId} --block ${seq}` : ""}`;
}

function indented(text: string): string[] {
  return printableText(text)
    .split("\n")
    .map((line) => `    ${line}`);
}

function fenced(text: string): string[] {
  return text.split("\n").map((line) => `  │ ${line}`);
}
