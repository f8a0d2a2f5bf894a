/**
 * Asking a person before something is done.
 *
 * An approval is decided once: the first decision wins and every later one is refused. Running out of time is an
 * outcome of its own, neither a yes nor a no, and never lets anything through. Rules in docs/spec/approvals.md.
 */
import type { Containment } from "./containment.ts";
import type { JsonObject, StoredEvent } from "./event.ts";

export type ApprovalKind = "tool" | "plan" | "escalation";
export const APPROVAL_KINDS = ["tool", "plan", "escalation"] as const satisfies readonly ApprovalKind[];

export type ApprovalStatus = "pending" | "approved" | "rejected" | "expired";
export const APPROVAL_STATUSES = [
  "pending",
  "approved",
  "rejected",
  "expired",
] as const satisfies readonly ApprovalStatus[];

export type RiskLevel = "low" | "medium" | "high" | "critical";
export const RISK_LEVELS = ["low", "medium", "high", "critical"] as const satisfies readonly RiskLevel[];

export const APPROVAL_EVENTS = [
  "approval_request",
  "approval_decision",
  "approval_consumed",
  "approval_violated",
] as const;

export const APPROVAL_TIMEOUT_MS = 300_000;
export const APPROVAL_TIMEOUT_MAX_MS = 24 * 60 * 60 * 1000;

export type Approval = {
  readonly requestId: string;
  readonly sessionId: string;
  readonly kind: ApprovalKind;
  readonly payload: JsonObject;
  readonly action: string;
  readonly riskLevel: RiskLevel;
  readonly contextHash: string;
  readonly requestedBy: string;
  readonly requestedAt: string;
  readonly timeoutMs: number;
  readonly expiresAt: string;
  readonly status: ApprovalStatus;
  /** Why it was asked for: `requested` by its actor, or by which rule. */
  readonly rule: string;
  /** Of the session it belongs to. */
  readonly containment?: Containment;
  /** Of an action that is bound: under which control it may run. */
  readonly epoch?: number;
  readonly approved?: boolean;
  readonly reason?: string;
  readonly resolvedBy?: string;
  readonly resolvedAt?: string;
  /** What was approved instead of what was asked for. */
  readonly edit?: { readonly command: string };
  /** What follows from the approval; of an action that is bound, whether it was run. */
  readonly result?: JsonObject;
};

/** Everything the asking side settles; the rest follows from the log. */
export type ApprovalAsk = Omit<
  Approval,
  "sessionId" | "requestedAt" | "status" | "approved" | "reason" | "resolvedBy" | "resolvedAt" | "edit" | "result"
>;

export type ApprovalVerdict = {
  readonly status: Exclude<ApprovalStatus, "pending">;
  readonly resolvedBy: string;
  readonly reason?: string;
  /** The hash of what is approved, where that isn't what was asked for. */
  readonly edit?: { readonly command: string; readonly contextHash: string };
  readonly result?: JsonObject;
};

export type ApprovalDecision =
  | { readonly ok: true; readonly payload: JsonObject }
  | { readonly ok: false; readonly refusal: "approval_decided" }
  | { readonly ok: false; readonly refusal: "approval_expired" };

/** Decides one verdict. `expired` says whether the time is over: the caller has the clock. */
export function decideApproval(
  state: Approval,
  verdict: ApprovalVerdict,
  { expired }: { readonly expired: boolean },
): ApprovalDecision {
  if (state.status === "expired") return { ok: false, refusal: "approval_expired" };
  if (state.status !== "pending") {
    return { ok: false, refusal: "approval_decided" };
  }
  if (expired && verdict.status !== "expired") return { ok: false, refusal: "approval_expired" };
  return {
    ok: true,
    payload: {
      requestId: state.requestId,
      status: verdict.status,
      approved: verdict.status === "approved",
      resolvedBy: verdict.resolvedBy,
      ...(verdict.reason === undefined ? {} : { reason: verdict.reason }),
      ...(verdict.edit === undefined ? {} : { edit: { ...verdict.edit } }),
      ...(verdict.result === undefined ? {} : { result: verdict.result }),
    },
  };
}

/** What became of an action that was approved. `taken`: it is being done, or nobody is left who knows. */
export type ActionOutcome = "taken" | "run" | "not_run" | "unknown";

/** Whether an action that was approved may be taken up now: once, and not before the decision. */
export function mayConsume({ status, epoch, result }: Approval): boolean {
  return status === "approved" && epoch !== undefined && result === undefined;
}

/** What a blocked action ends with that was rejected: by a person, or because its control or its session was over. */
export function rejectionCode({ resolvedBy, reason }: Pick<Approval, "resolvedBy" | "reason">) {
  if (resolvedBy !== "system") return "approval_rejected";
  return reason === "stopped" || reason === "revoked" ? reason : "invalid_transition";
}

/** Nothing more follows from it. */
export function isSettled(approval: Approval): boolean {
  return approval.status !== "pending" && !mayConsume(approval) && approval.result?.["outcome"] !== "taken";
}

/** Folds one recorded approval event. Total. */
export function applyApproval(state: Approval | undefined, event: StoredEvent): Approval | undefined {
  if (event.type === "approval_request" && state === undefined) {
    const ask = event.payload as unknown as ApprovalAsk;
    return { ...ask, sessionId: event.sessionId, requestedAt: event.timestamp, status: "pending" };
  }
  if (event.type === "approval_decision" && state?.status === "pending") {
    const verdict = event.payload as unknown as ApprovalVerdict & { approved: boolean };
    return {
      ...state,
      status: verdict.status,
      approved: verdict.approved,
      resolvedBy: verdict.resolvedBy,
      resolvedAt: event.timestamp,
      ...(verdict.reason === undefined ? {} : { reason: verdict.reason }),
      ...(verdict.edit === undefined
        ? {}
        : { edit: { command: verdict.edit.command }, contextHash: verdict.edit.contextHash }),
      ...(verdict.result === undefined ? {} : { result: verdict.result }),
    };
  }
  if (event.type === "approval_consumed" && state?.status === "approved") {
    const { requestId: _, ...told } = event.payload;
    return { ...state, result: { ...state.result, ...told } };
  }
  if (event.type === "approval_violated" && state !== undefined) {
    return { ...state, result: { ...state.result, violated: event.payload["changed"] ?? [] } };
  }
  return state;
}
