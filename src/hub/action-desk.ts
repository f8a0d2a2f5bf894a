/**
 * What agents want to do, asked about where policy says so, and done once as it was approved: the plan that a person saw is
 * kept here, nobody sends it a second time. Rules APR-12..APR-22 in docs/spec/approvals.md.
 */
import { SYSTEM } from "../domain/actor.ts";
import { type Approval, rejectionCode } from "../domain/approval.ts";
import { redactText } from "../domain/redaction/redact-text.ts";
import { shownText } from "../domain/shown-text.ts";
import type { Logger } from "../lib/logger.ts";
import { AppError } from "../protocol/errors.ts";
import type { ActionPlans, CommandWish, InputWish, Plan } from "./action-plans.ts";
import type { ApprovalDesk, Edited } from "./approval-desk.ts";
import type { InputTaken } from "./ports.ts";
import type { BlockBegun } from "./terminal-driver.ts";
import type { SessionDesk } from "./session-desk.ts";
import { woken } from "./woken.ts";

export type ActionDeskParts = {
  readonly plans: ActionPlans;
  readonly approvals: ApprovalDesk;
  readonly sessions: SessionDesk;
  readonly logger: Logger;
  readonly newId: () => string;
  readonly digest: (text: string) => string;
};

/** What came of it, and what it was if a person had a hand in it. */
export type Done<T> = {
  readonly outcome: T;
  readonly approvalId?: string;
  /** What was done instead, as a person changed it. */
  readonly edited?: string;
};

/** Who asks, and how to come to a plan again. */
type Asking<T> = {
  readonly sessionId: string;
  readonly agentId: string;
  /** Commands of its session wait behind it. */
  readonly isFront: boolean;
  /** When nobody answered. */
  readonly replan: () => Promise<Plan<T>>;
  /** Another command in its place. Absent: it is none. */
  readonly withCommand?: (command: string) => Promise<Plan<T>>;
  /** It will never run. */
  readonly onNotRun?: (() => void) | undefined;
};

/** From the question to its end. */
type Held<T = unknown> = {
  readonly asking: Asking<T>;
  plan: Plan<T>;
  readonly outcome: PromiseWithResolvers<T>;
  /** By hash: what would be done instead, if that decision is the first. */
  readonly edits: Map<string, Plan<T>>;
  /** Nobody answered, and its rule has it asked again: as which approval. */
  escalation?: Promise<string | undefined>;
};

const ESCALATION_MS = 24 * 60 * 60 * 1000;

export class ActionDesk {
  readonly #parts: ActionDeskParts;
  readonly #held = new Map<string, Held>();
  /** By session: the approval that its commands wait behind. */
  readonly #front = new Map<string, string>();
  readonly #waiting = new Set<() => void>();

  constructor(parts: ActionDeskParts) {
    this.#parts = parts;
    parts.approvals.onApproval({
      concerns: ({ requestId }) => this.#held.has(requestId),
      edit: (approval, command) => this.#edit(approval, command),
      carryOut: (approval) => this.#carryOut(approval),
    });
    parts.approvals.onEnd((approval) => this.#ended(approval));
  }

  /** Runs a command, if need be when a person has approved it. `until`: how long the caller waits for one. */
  async run(wish: CommandWish, until: AbortSignal): Promise<Done<BlockBegun>> {
    const { session, request, onNotRun } = wish;
    const { plans } = this.#parts;
    const { sessionId } = session;
    const withCommand = (command: string) => plans.boundCommand({ ...wish, request: { ...request, command } });
    const replan = () => plans.boundCommand(wish);
    const isAgent = request.by.kind === "agent";
    for (;;) {
      // What runs first changes where the next one would run; what is denied is so wherever.
      if (isAgent && this.#front.has(sessionId)) await plans.refuseDenied(wish);
      if (isAgent) await this.#behindOthers(sessionId, until);
      const plan = await plans.command(wish);
      if (plan.decision === "auto") return { outcome: await plan.run() };
      if (this.#front.has(sessionId)) continue;
      const asking = { sessionId, agentId: request.by.id, isFront: true, replan, withCommand, onNotRun };
      return this.#askFor(asking, plan, until);
    }
  }

  /** A command of it waits for a person. */
  isAsked(sessionId: string): boolean {
    return this.#front.has(sessionId);
  }

  /** Types something; where a person is asked first it answers `approval_pending` at once. */
  async type(wish: InputWish): Promise<InputTaken> {
    const plan = await this.#parts.plans.input(wish);
    if (plan.decision === "auto") return plan.run();
    const asking = { sessionId: wish.session.sessionId, agentId: wish.input.by.id, isFront: false };
    const { outcome } = await this.#askFor({ ...asking, replan: async () => plan }, plan, AbortSignal.abort());
    return outcome;
  }

  /** How to type a part of something. Half of it approved would be half of it typed: where a person would be asked it is refused. */
  async part(wish: InputWish): Promise<() => Promise<InputTaken>> {
    const plan = await this.#parts.plans.input(wish);
    if (plan.decision === "auto") return plan.run;
    const { rule, riskLevel, reason } = plan.verdict;
    const detail = "Policy has a person asked, and this goes in in parts: a person has to answer it";
    throw new AppError("policy_denied", { rule, riskLevel, reason, detail });
  }

  async #askFor<T>(asking: Asking<T>, plan: Plan<T>, until: AbortSignal): Promise<Done<T>> {
    const held: Held<T> = { asking, plan, outcome: Promise.withResolvers<T>(), edits: new Map() };
    // Nobody may be there any more to hear it.
    held.outcome.promise.catch(() => undefined);
    const requestId = await this.#ask(held, {});
    return this.#answer(await this.#parts.approvals.settled(requestId, until), held);
  }

  async #ask<T>(held: Held<T>, { escalates = false }: { readonly escalates?: boolean }): Promise<string> {
    const { plan, asking } = held;
    const { verdict, epoch, action, shown } = plan;
    const timeoutMs = escalates ? ESCALATION_MS : verdict.timeoutMs;
    const requestId = this.#parts.newId();
    const { sessionId } = asking;
    this.#held.set(requestId, held as Held);
    if (asking.isFront) this.#front.set(sessionId, requestId);
    const ask = {
      kind: escalates ? "escalation" : "tool",
      sessionId,
      action,
      payload: shown,
      timeoutMs,
    } as const;
    const bound = { contextHash: this.#hash(sessionId, plan), epoch };
    try {
      const terms = { rule: verdict.rule, riskLevel: verdict.riskLevel, bound, requestId };
      await this.#parts.approvals.request(ask, { kind: "agent", id: asking.agentId }, terms);
    } catch (error) {
      this.#held.delete(requestId);
      this.#leaveFront(sessionId, requestId);
      throw error;
    }
    return requestId;
  }

  #hash(sessionId: string, { facts, epoch, verdict }: Pick<Plan<never>, "facts" | "epoch" | "verdict">): string {
    const { digest, newId } = this.#parts;
    const { policyVersion, timeoutMs = null } = verdict;
    return digest(JSON.stringify([sessionId, epoch, facts, timeoutMs, policyVersion, newId()]));
  }

  /** A new action in the place of the one that was asked for, judged and bound like it. */
  async #edit({ requestId }: Approval, command: string): Promise<Edited> {
    const held = this.#held.get(requestId);
    if (held?.asking.withCommand === undefined) {
      throw new AppError("invalid_request", { detail: "Only a command can be edited, not what is typed" });
    }
    const edited = await held.asking.withCommand(command);
    if (edited.epoch !== held.plan.epoch) throw new AppError("approval_stale", { requestId, changed: ["epoch"] });
    const contextHash = this.#hash(held.asking.sessionId, edited);
    held.edits.set(contextHash, edited);
    return { command: shownText(redactText(command)), contextHash };
  }

  /** Recorded as taken up before anything is done: whatever dies in between, it is done at most once. */
  async #carryOut({ requestId, contextHash }: Approval): Promise<void> {
    const { approvals } = this.#parts;
    const held = this.#held.get(requestId);
    if (held === undefined) return;
    const { outcome, asking } = held;
    const plan = held.edits.get(contextHash) ?? held.plan;
    try {
      await approvals.consume(requestId, plan.names);
      outcome.resolve(await plan.run());
    } catch (error) {
      outcome.reject(error);
      if (!(error instanceof AppError && error.code === "unknown_outcome")) asking.onNotRun?.();
      await this.#tellFailure(requestId, error);
      return;
    } finally {
      this.#held.delete(requestId);
      this.#leaveFront(asking.sessionId, requestId);
    }
    await approvals.tellOutcome(requestId, { outcome: "run", ...plan.tell(await outcome.promise) });
  }

  async #tellFailure(requestId: string, error: unknown): Promise<void> {
    const { approvals, logger } = this.#parts;
    const { code, details } = error instanceof AppError ? error : new AppError("internal");
    const { changed } = details;
    if (!(error instanceof AppError)) logger.error("an approved action failed", { approval: requestId, error });
    const outcome = code === "unknown_outcome" ? "unknown" : "not_run";
    await approvals.tellOutcome(requestId, { outcome, code, ...(changed !== undefined && { changed }) });
  }

  /** What the blocked call answers. */
  async #answer<T>(approval: Approval, held: Held<T>): Promise<Done<T>> {
    const { requestId, status, edit, expiresAt, rule, riskLevel } = approval;
    switch (status) {
      case "pending": {
        const detail = "A person is asked; approval_wait with this requestId tells what they decide";
        throw new AppError("approval_pending", { requestId, rule, riskLevel, expiresAt, detail });
      }
      case "approved":
        return {
          outcome: await held.outcome.promise,
          approvalId: requestId,
          ...(edit && { edited: edit.command }),
        };
      case "expired": {
        const escalatedTo = await held.escalation;
        throw new AppError("approval_expired", { requestId, ...(escalatedTo !== undefined && { escalatedTo }) });
      }
      case "rejected":
        throw rejection(approval);
    }
  }

  #ended(approval: Approval): void {
    const { requestId, sessionId, status } = approval;
    const held = this.#held.get(requestId);
    if (held === undefined || status === "approved") return;
    this.#held.delete(requestId);
    this.#leaveFront(sessionId, requestId);
    if (status !== "expired") return held.asking.onNotRun?.();
    held.escalation = this.#afterExpiry(held, approval).catch((error: unknown) => {
      this.#parts.logger.warn("what should follow an expired approval failed", { session: sessionId, error });
      return undefined;
    });
    void held.escalation.then((escalatedTo) => escalatedTo === undefined && held.asking.onNotRun?.());
  }

  async #afterExpiry(held: Held, { sessionId, kind }: Approval): Promise<string | undefined> {
    const { onExpiry } = held.plan.verdict;
    if (onExpiry === "pause") await this.#parts.sessions.pause(sessionId, SYSTEM);
    if (onExpiry !== "escalate" || kind === "escalation") return undefined;
    return this.#ask({ ...held, plan: await held.asking.replan(), edits: new Map() }, { escalates: true });
  }

  async #behindOthers(sessionId: string, until: AbortSignal): Promise<void> {
    for (;;) {
      const requestId = this.#front.get(sessionId);
      if (requestId === undefined) return;
      if (until.aborted) {
        const detail = "Another command of this terminal waits for a person; approval_wait tells when that is over";
        throw new AppError("approval_pending", { requestId, behind: true, detail });
      }
      await woken(this.#waiting, until);
    }
  }

  #leaveFront(sessionId: string, requestId: string): void {
    if (this.#front.get(sessionId) !== requestId) return;
    this.#front.delete(sessionId);
    for (const wake of this.#waiting) wake();
  }
}

function rejection(approval: Approval): AppError {
  const { requestId, resolvedBy, reason } = approval;
  const code = rejectionCode(approval);
  const detail = code === "invalid_transition" ? { detail: "The session was closed" } : {};
  return new AppError(code, { requestId, resolvedBy, ...(reason !== undefined && { reason }), ...detail });
}
