/**
 * Approvals: asked for, decided once, or run out of time. They are events of the session they belong to and survive
 * a restart; what nobody decides in time lets nothing through. Rules in docs/spec/approvals.md.
 */
import type { Actor } from "../domain/actor.ts";
import { SYSTEM } from "../domain/actor.ts";
import {
  APPROVAL_TIMEOUT_MS,
  applyApproval,
  type Approval,
  type ApprovalVerdict,
  decideApproval,
  type RiskLevel,
} from "../domain/approval.ts";
import { HUB_STREAM, type JsonObject, type StoredEvent } from "../domain/event.ts";
import type { Logger } from "../lib/logger.ts";
import { startTimer } from "../lib/long-timer.ts";
import { RateLimit } from "../lib/rate-limit.ts";
import { Turns } from "../lib/turns.ts";
import { AppError } from "../protocol/errors.ts";
import type { ParsedInput } from "../protocol/operations.ts";
import { follow, type Journal } from "./journal.ts";
import type { Clock } from "./ports.ts";
import type { SessionDesk } from "./session-desk.ts";
import { DEFAULT_WORKSPACE, type WorkspaceDesk } from "./workspace-desk.ts";

export type ApprovalDeskParts = {
  readonly journal: Journal;
  readonly sessions: SessionDesk;
  readonly workspaces: WorkspaceDesk;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: () => string;
  /** SHA-256 of a text, hex. */
  readonly digest: (text: string) => string;
};

/** What the asking side settles where a rule asks. */
export type AskTerms = { readonly rule: string; readonly riskLevel: RiskLevel };

/** What an approval of one rule brings about. */
export type ApprovalEffect = {
  /** Recorded with the decision, before anything is done; throws to refuse it. */
  readonly result: (approval: Approval) => JsonObject;
  readonly carryOut: (approval: Approval, by: Actor) => Promise<void>;
};

const REQUESTED: AskTerms = { rule: "requested", riskLevel: "medium" };
/** More questions in a minute than any person answers are an attack or a loop. */
const PER_MINUTE = 120;
/** Decided ones that stay at hand; all of them are in the log. */
const DECIDED_KEPT = 2000;
const RETRY_MS = 5000;

export class ApprovalDesk {
  readonly #parts: ApprovalDeskParts;
  readonly #approvals = new Map<string, Approval>();
  /** Where in the log each pending one was asked for. */
  readonly #pending = new Map<string, number>();
  readonly #timers = new Map<string, Disposable>();
  readonly #rate: RateLimit;
  readonly #decided: string[] = [];
  readonly #effects = new Map<string, ApprovalEffect>();
  #stopped = false;
  /** One request of an actor at a time: a limit that all of them pass at once is none. */
  readonly #asking = new Turns();

  constructor(parts: ApprovalDeskParts) {
    this.#parts = parts;
    this.#rate = new RateLimit(PER_MINUTE, () => parts.clock.now());
  }

  async start(): Promise<void> {
    await follow(this.#parts.journal.log, ["approval_request", "approval_decision"], (event) => this.#fold(event));
    this.#parts.journal.log.observe((events) => {
      for (const { type, payload, sessionId } of events) {
        if (type === "status" && payload.status === "closed") this.endIn(sessionId, "session_closed");
        if (type === "intent" && payload.intent === "STOP_NOW") this.endIn(sessionId, "stopped");
      }
    });
    for (const approval of this.list("pending")) {
      this.#arm(approval);
      // Its session may have ended while nobody was here to end the approval with it.
      if (approval.sessionId !== HUB_STREAM && !this.#parts.sessions.isOpen(approval.sessionId)) {
        this.endIn(approval.sessionId, "session_closed");
      }
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers.values()) timer[Symbol.dispose]();
    this.#timers.clear();
  }

  request(ask: ParsedInput<"approval.request">, by: Actor, terms = REQUESTED): Promise<Approval> {
    return this.#asking.run(by.id, () => this.#request(ask, by, terms));
  }

  onApproval(rule: string, effect: ApprovalEffect): void {
    this.#effects.set(rule, effect);
  }

  list(status?: Approval["status"]): readonly Approval[] {
    return [...this.#approvals.values()].filter((it) => status === undefined || it.status === status);
  }

  /** The events that a restarted hub needs to know what is pending. */
  pendingSequences(): ReadonlySet<number> {
    return new Set(this.#pending.values());
  }

  get(requestId: string): Approval {
    const approval = this.#approvals.get(requestId);
    if (approval === undefined) throw new AppError("not_found", { what: "approval", id: requestId });
    return approval;
  }

  async resolve(requestId: string, verdict: Omit<ApprovalVerdict, "resolvedBy">, by: Actor): Promise<Approval> {
    const effect = verdict.status === "approved" ? this.#effects.get(this.get(requestId).rule) : undefined;
    const approval = await this.#decide(requestId, { ...verdict, resolvedBy: by.id }, by, effect?.result);
    await effect?.carryOut(approval, by);
    return approval;
  }

  /** Ends what is pending without a person's decision; answers how many that were. */
  async endAll(reason: string): Promise<number> {
    const verdict = { status: "rejected", resolvedBy: "system", reason } as const;
    const ended = await Promise.all(this.list("pending").map((it) => this.#endAs(it, verdict)));
    return ended.filter(Boolean).length;
  }

  /** Ends what an agent asked for in a session, without a person's decision. `agentId` absent: whoever asked. */
  endIn(sessionId: string, reason: string, agentId?: string): void {
    for (const it of this.list("pending")) {
      if (it.sessionId !== sessionId || (agentId !== undefined && it.requestedBy !== agentId)) continue;
      void this.#endSurely(it, { status: "rejected", resolvedBy: "system", reason });
    }
  }

  forgetDecidedBefore(instant: string): void {
    for (const it of this.list()) {
      if (it.status !== "pending" && (it.resolvedAt ?? it.requestedAt) < instant) this.#approvals.delete(it.requestId);
    }
  }

  async #request(ask: ParsedInput<"approval.request">, by: Actor, { rule, riskLevel }: AskTerms): Promise<Approval> {
    const { clock, digest, journal, newId, sessions } = this.#parts;
    const requestId = newId();
    const stream = ask.sessionId ?? HUB_STREAM;
    const timeoutMs = ask.timeoutMs ?? APPROVAL_TIMEOUT_MS;
    await journal.record(stream, "power", () => {
      this.#refuseBadAsk(ask.sessionId, by);
      const session = ask.sessionId === undefined ? undefined : sessions.get(ask.sessionId);
      const payload = {
        requestId,
        kind: ask.kind,
        payload: ask.payload,
        action: ask.action ?? ask.kind,
        riskLevel,
        contextHash: digest(JSON.stringify([requestId, stream, ask.kind, ask.action ?? null, ask.payload])),
        requestedBy: by.id,
        timeoutMs,
        expiresAt: new Date(clock.now() + timeoutMs).toISOString(),
        rule,
        ...(session === undefined ? {} : { containment: session.containment }),
      };
      return { type: "approval_request", payload, source: by };
    });
    const approval = this.get(requestId);
    this.#arm(approval);
    return approval;
  }

  #fold(event: StoredEvent): void {
    const { requestId } = event.payload as { requestId?: string };
    if (requestId === undefined) return;
    const next = applyApproval(this.#approvals.get(requestId), event);
    if (next === undefined) return;
    this.#approvals.set(requestId, next);
    if (next.status === "pending") {
      if (!this.#pending.has(requestId)) this.#pending.set(requestId, event.sequence);
      return;
    }
    this.#pending.delete(requestId);
    this.#disarm(requestId);
    this.#decided.push(requestId);
    if (this.#decided.length > DECIDED_KEPT) this.#approvals.delete(this.#decided.shift() ?? "");
  }

  #refuseBadAsk(sessionId: string | undefined, by: Actor): void {
    const session = sessionId === undefined ? undefined : this.#parts.sessions.get(sessionId);
    if (session?.status === "closed") {
      throw new AppError("invalid_transition", { status: "closed", detail: "The session is closed" });
    }
    if (!this.#rate.admits(by.id))
      throw new AppError("limit_reached", { limit: "approvals a minute", max: PER_MINUTE });
    const { maxPendingApprovals } = this.#parts.workspaces.get(session?.workspaceId ?? DEFAULT_WORKSPACE).limits;
    const pending = this.list("pending").filter((it) => it.requestedBy === by.id).length;
    if (pending >= maxPendingApprovals) throw new AppError("limit_reached", { limit: "maxPendingApprovals", pending });
  }

  async #decide(
    requestId: string,
    verdict: ApprovalVerdict,
    source: Actor,
    resultOf?: ApprovalEffect["result"],
  ): Promise<Approval> {
    const known = this.get(requestId);
    await this.#parts.journal.record(known.sessionId, "power", () => {
      const state = this.get(requestId);
      const expired = Date.parse(state.expiresAt) <= this.#parts.clock.now();
      this.#refuseWithoutSession(state, verdict);
      const result = state.status === "pending" ? resultOf?.(state) : undefined;
      const decision = decideApproval(state, { ...verdict, ...(result && { result }) }, { expired });
      if (decision.ok) return { type: "approval_decision", payload: decision.payload, source };
      const { resolvedBy, resolvedAt, reason, status } = state;
      const decided =
        decision.refusal === "approval_decided" ? { decision: status, resolvedBy, resolvedAt, reason } : {};
      throw new AppError(decision.refusal, { requestId, ...decided });
    });
    return this.get(requestId);
  }

  /** The session may be over although its approvals have not been ended yet. */
  #refuseWithoutSession({ sessionId, status }: Approval, verdict: ApprovalVerdict): void {
    if (sessionId === HUB_STREAM || status !== "pending" || verdict.status !== "approved") return;
    if (this.#parts.sessions.isOpen(sessionId)) return;
    throw new AppError("approval_stale", { detail: "The session it belongs to is closed" });
  }

  #arm(approval: Approval): void {
    const left = Date.parse(approval.expiresAt) - this.#parts.clock.now();
    this.#timers.set(
      approval.requestId,
      startTimer(left, () => void this.#endSurely(approval, { status: "expired", resolvedBy: "system" })),
    );
  }

  /** Tries again while it can't be stored: an approval must not stay pending because a disk was full. */
  async #endSurely(approval: Approval, verdict: ApprovalVerdict): Promise<void> {
    await this.#endAs(approval, verdict);
    if (this.#approvals.get(approval.requestId)?.status !== "pending" || this.#stopped) return;
    this.#disarm(approval.requestId);
    this.#timers.set(
      approval.requestId,
      startTimer(RETRY_MS, () => void this.#endSurely(approval, verdict)),
    );
  }

  #disarm(requestId: string): void {
    this.#timers.get(requestId)?.[Symbol.dispose]();
    this.#timers.delete(requestId);
  }

  /** True if this ended it. Losing the race to a person's decision is fine; anything else is worth a line in the log. */
  async #endAs(approval: Approval, verdict: ApprovalVerdict): Promise<boolean> {
    try {
      await this.#decide(approval.requestId, verdict, SYSTEM);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code !== "storage_unavailable") return false;
      this.#parts.logger.error("the end of an approval could not be stored", { session: approval.sessionId, error });
      return false;
    }
  }
}
