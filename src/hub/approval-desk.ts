/**
 * Approvals: asked for, decided once, or run out of time. They are events of the session they belong to and survive
 * a restart; what nobody decides in time lets nothing through. Rules in docs/spec/approvals.md.
 */
import type { Actor } from "../domain/actor.ts";
import { SYSTEM } from "../domain/actor.ts";
import {
  type ActionOutcome,
  APPROVAL_TIMEOUT_MS,
  applyApproval,
  APPROVAL_EVENTS,
  type Approval,
  type ApprovalVerdict,
  decideApproval,
  isSettled,
  mayConsume,
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
import { woken } from "./woken.ts";
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
export type AskTerms = {
  readonly rule: string;
  readonly riskLevel: RiskLevel;
  /** Of an action that is bound. Absent: the hash is over what is shown. */
  readonly bound?: { readonly contextHash: string; readonly epoch: number } | undefined;
  /** Where it was settled before. */
  readonly requestId?: string | undefined;
};

/** What some approvals bring about. */
export type ApprovalEffect = {
  readonly concerns: (approval: Approval) => boolean;
  /** Recorded with the decision, before anything is done; throws to refuse it. */
  readonly result?: (approval: Approval) => JsonObject;
  /** Something else is to be approved in its place; throws to refuse that. Absent: it can't be edited. */
  readonly edit?: (approval: Approval, command: string) => Promise<Edited>;
  readonly carryOut: (approval: Approval, by: Actor) => Promise<void>;
};

export type Edited = NonNullable<ApprovalVerdict["edit"]>;

type Resolution = {
  readonly status: "approved" | "rejected";
  readonly reason?: string | undefined;
  readonly edit?: { readonly command: string } | undefined;
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
  readonly #effects: ApprovalEffect[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #endListeners: ((approval: Approval) => void)[] = [];
  #stopped = false;
  /** One request of an actor at a time: a limit that all of them pass at once is none. */
  readonly #asking = new Turns();

  constructor(parts: ApprovalDeskParts) {
    this.#parts = parts;
    this.#rate = new RateLimit(PER_MINUTE, () => parts.clock.now());
  }

  async start(): Promise<void> {
    await follow(this.#parts.journal.log, APPROVAL_EVENTS, (event) => this.#fold(event));
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
      } else if (approval.epoch !== undefined) {
        // The control under which it was asked ended with the hub that asked.
        void this.#endSurely(approval, { status: "rejected", resolvedBy: "system", reason: "revoked" });
      }
    }
    await this.#closeUnconsumed();
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers.values()) timer[Symbol.dispose]();
    this.#timers.clear();
  }

  request(ask: ParsedInput<"approval.request">, by: Actor, terms = REQUESTED): Promise<Approval> {
    return this.#asking.run(by.id, () => this.#request(ask, by, terms));
  }

  onApproval(effect: ApprovalEffect): void {
    this.#effects.push(effect);
  }

  /** Called when one is no longer pending, however it ended, once that is stored. */
  onEnd(listener: (approval: Approval) => void): void {
    this.#endListeners.push(listener);
  }

  /** Resolves when it is decided and, if it was of an action, taken up; or when the signal is aborted. */
  async settled(requestId: string, signal: AbortSignal): Promise<Approval> {
    for (;;) {
      const approval = this.get(requestId);
      if (signal.aborted || isSettled(approval)) return approval;
      await woken(this.#waiting, signal);
    }
  }

  /** Takes up what was approved: once, and stored before anything is done. */
  async consume(requestId: string, told: JsonObject): Promise<void> {
    await this.#parts.journal.record(this.get(requestId).sessionId, "power", () => {
      if (!mayConsume(this.get(requestId))) throw new AppError("approval_stale", { requestId });
      const outcome: ActionOutcome = "taken";
      return { type: "approval_consumed", payload: { requestId, outcome, ...told }, source: SYSTEM };
    });
  }

  /** What came of it, after it was taken up. */
  async tellOutcome(requestId: string, told: JsonObject & { readonly outcome: ActionOutcome }): Promise<void> {
    const { sessionId } = this.get(requestId);
    const payload = { requestId, ...told };
    await this.#parts.journal.note(sessionId, "process", [{ type: "approval_consumed", payload, source: SYSTEM }]);
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

  async resolve(requestId: string, { status, reason, edit }: Resolution, by: Actor): Promise<Approval> {
    const asked = this.get(requestId);
    const effect = status === "approved" ? this.#effects.find((it) => it.concerns(asked)) : undefined;
    const edited = edit === undefined ? undefined : await this.#edited(asked, edit.command, effect);
    const verdict = {
      status,
      resolvedBy: by.id,
      ...(reason !== undefined && { reason }),
      ...(edited && { edit: edited }),
    };
    const approval = await this.#decide(requestId, verdict, by, effect?.result);
    await effect?.carryOut(approval, by);
    return this.get(requestId);
  }

  /** Ends what is pending without a person's decision; answers how many that were. */
  async endAll(reason: string): Promise<number> {
    const verdict = { status: "rejected", resolvedBy: "system", reason } as const;
    const ended = await Promise.all(this.list("pending").map((it) => this.#endAs(it, verdict)));
    return ended.filter(Boolean).length;
  }

  /** Ends what is pending in a session, without a person's decision; `only` what an agent asked, or what is bound. */
  endIn(sessionId: string, reason: string, only: { readonly agentId?: string; readonly bound?: boolean } = {}): void {
    for (const it of this.list("pending")) {
      if (it.sessionId !== sessionId || (only.agentId !== undefined && it.requestedBy !== only.agentId)) continue;
      if (only.bound === true && it.epoch === undefined) continue;
      void this.#endSurely(it, { status: "rejected", resolvedBy: "system", reason });
    }
  }

  forgetDecidedBefore(instant: string): void {
    for (const it of this.list()) {
      if (it.status !== "pending" && (it.resolvedAt ?? it.requestedAt) < instant) this.#approvals.delete(it.requestId);
    }
  }

  async #edited(asked: Approval, command: string, effect: ApprovalEffect | undefined): Promise<Edited> {
    if (asked.status !== "pending") throw decidedAlready(asked);
    if (effect?.edit === undefined) {
      throw new AppError("invalid_request", { detail: "There is no command in it that could be edited" });
    }
    try {
      return await effect.edit(asked, command);
    } catch (error) {
      // Somebody else's decision may have been what made it impossible.
      const now = this.get(asked.requestId);
      throw now.status === "pending" ? error : decidedAlready(now);
    }
  }

  /** Approved when the hub died: the control under which it could have run is over, or nobody knows whether it ran. */
  async #closeUnconsumed(): Promise<void> {
    for (const approval of this.list("approved").filter((it) => it.epoch !== undefined && !isSettled(it))) {
      const told = mayConsume(approval)
        ? ({ outcome: "not_run", code: "approval_stale" } as const)
        : ({ outcome: "unknown", code: "unknown_outcome" } as const);
      await this.tellOutcome(approval.requestId, told);
    }
  }

  async #request(
    ask: ParsedInput<"approval.request">,
    by: Actor,
    { rule, riskLevel, bound, requestId = this.#parts.newId() }: AskTerms,
  ): Promise<Approval> {
    const { clock, digest, journal, sessions } = this.#parts;
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
        contextHash:
          bound?.contextHash ?? digest(JSON.stringify([requestId, stream, ask.kind, ask.action ?? null, ask.payload])),
        requestedBy: by.id,
        timeoutMs,
        expiresAt: new Date(clock.now() + timeoutMs).toISOString(),
        rule,
        ...(session === undefined ? {} : { containment: session.containment }),
        ...(bound === undefined ? {} : { epoch: bound.epoch }),
      };
      return { type: "approval_request", payload, source: by };
    });
    const approval = this.get(requestId);
    this.#arm(approval);
    return approval;
  }

  #fold(event: StoredEvent): void {
    const requestId = this.#concerned(event);
    if (requestId === undefined) return;
    const before = this.#approvals.get(requestId);
    const next = applyApproval(before, event);
    if (next === undefined || next === before) return;
    this.#approvals.set(requestId, next);
    for (const wake of this.#waiting) wake();
    if (next.status === "pending") {
      if (!this.#pending.has(requestId)) this.#pending.set(requestId, event.sequence);
      return;
    }
    if (before?.status !== "pending") return;
    this.#pending.delete(requestId);
    this.#disarm(requestId);
    this.#decided.push(requestId);
    if (this.#decided.length > DECIDED_KEPT) this.#approvals.delete(this.#decided.shift() ?? "");
    for (const listener of this.#endListeners) listener(next);
  }

  /** A violation names the block, which is all that the host knows. */
  #concerned({ type, sessionId, payload }: StoredEvent): string | undefined {
    const { requestId, blockId } = payload as { readonly requestId?: string; readonly blockId?: string };
    if (type !== "approval_violated") return requestId;
    const isOf = (it: Approval): boolean => it.sessionId === sessionId && it.result?.["blockId"] === blockId;
    return this.list("approved").find(isOf)?.requestId;
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
      throw decision.refusal === "approval_decided"
        ? decidedAlready(state)
        : new AppError(decision.refusal, { requestId });
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

function decidedAlready({ requestId, status, resolvedBy, resolvedAt, reason }: Approval): AppError {
  if (status === "expired") return new AppError("approval_expired", { requestId });
  return new AppError("approval_decided", { requestId, decision: status, resolvedBy, resolvedAt, reason });
}
