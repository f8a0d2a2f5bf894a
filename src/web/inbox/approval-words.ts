/** What was decided about an approval, as a sentence; the words of the hub stand in domain/approval-outcome.ts. */
import type { Approval } from "../../domain/approval.ts";
import { whatCameOf } from "../../domain/approval-outcome.ts";

export function decisionText(approval: Approval): string {
  const { status, resolvedBy = "somebody", reason, edit } = approval;
  const because = reason === undefined ? "" : `: ${reason}`;
  switch (status) {
    case "pending":
      return "No longer asked";
    case "expired":
      return "Expired: nobody decided in time, and nothing was run";
    case "rejected":
      return resolvedBy === "system" ? `Ended: ${ENDS[reason ?? ""] ?? reason}` : `Denied by ${resolvedBy}${because}`;
    case "approved":
      return `Approved by ${resolvedBy}${edit === undefined ? "" : ", as edited"}${because}`;
  }
}

/** The sign says the same as the colour. */
export function toneOf(approval: Approval): { readonly sign: string; readonly tone: string } {
  const { status, result } = approval;
  if (status === "pending") return { sign: "", tone: "soft" };
  if (status !== "approved") return { sign: "✕", tone: "bad" };
  const isDoubtful = whatCameOf(approval)?.outcome === "not_run" || result?.["violated"] !== undefined;
  return isDoubtful || result?.["outcome"] === "unknown" ? { sign: "!", tone: "warn" } : { sign: "✓", tone: "good" };
}

const ENDS: Readonly<Record<string, string>> = {
  stopped: "stopped, the agent was told to stop",
  revoked: "revoked, the agent lost control",
  session_closed: "the session was closed",
};
