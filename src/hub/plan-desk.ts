/**
 * Plans that agents print in sessions which a chat is bound to: found once, decided once. Executing types nothing; cancelling types a
 * line as whoever decided, which is driving; where that fails nobody has decided. Rules PMT-80..PMT-87 and PMT-145 in docs/spec/prompts.md.
 */
import { type Actor, SYSTEM } from "../domain/actor.ts";
import { displayText } from "../domain/display-text.ts";
import type { JsonObject, StoredEvent } from "../domain/event.ts";
import { decidePlan, type PlanDecision, type PlanTold } from "../domain/prompts/plan-decision.ts";
import { EMPTY_SEARCH, piecesOf, type PlanSearch, searchPlan } from "../domain/prompts/plan-detector.ts";
import type { Logger } from "../lib/logger.ts";
import { AppError } from "../protocol/errors.ts";
import { type BlockDesk, takesAnyText } from "./block-desk.ts";
import type { ConversationDesk } from "./conversation-desk.ts";
import { freshOutput, type OutputSource } from "./fresh-output.ts";
import { follow, type Journal } from "./journal.ts";
import { wordsOf } from "./chat/words.ts";
import { PACE, type Pace } from "./pace.ts";
import type { SessionDesk } from "./session-desk.ts";
import type { Typist } from "./typist.ts";

export type PlanDeskParts = {
  readonly journal: Journal;
  readonly sessions: Pick<SessionDesk, "isOpen">;
  readonly blocks: BlockDesk;
  readonly threads: ConversationDesk;
  readonly typist: Typist;
  readonly output: OutputSource;
  readonly logger: Logger;
  readonly newId: () => string;
  readonly pace?: Partial<Pace> | undefined;
};

export type FoundPlan = {
  readonly planId: string;
  readonly sessionId: string;
  readonly title: string;
  readonly steps: readonly string[];
  readonly foundAt: string;
  readonly decision?: PlanDecision;
  readonly decidedBy?: string;
};

export type DecidedPlan = FoundPlan & { readonly notice: string };

const KEPT = 500;
/** Looked at in one go: what a program prints faster than that is passed over. */
const LOOKED_MAX = 64 * 1024;
const TEXT = { headBytes: 4 * LOOKED_MAX, tailBytes: 0 };

export class PlanDesk {
  readonly #parts: PlanDeskParts;
  readonly #plans = new Map<string, FoundPlan>();
  readonly #searches = new Map<string, PlanSearch>();
  /** Up to where the output of a session was looked at. */
  readonly #cursors = new Map<string, number>();
  readonly #looking = new Set<string>();
  /** Plans that may go on: told when nothing more comes. */
  readonly #settling = new Map<string, NodeJS.Timeout>();

  constructor(parts: PlanDeskParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    const { log } = this.#parts.journal;
    await follow(log, ["plan"], (event) => this.#fold(event));
    log.observe((events) => {
      for (const event of events) this.#note(event);
    });
  }

  undecided(): readonly FoundPlan[] {
    return [...this.#plans.values()].filter((it) => it.decision === undefined);
  }

  /** The first decision stands; what it types goes in only where no question would take it for its answer. */
  async resolve(planId: string, decision: PlanDecision, by: Actor): Promise<DecidedPlan> {
    const plan = this.#get(planId);
    const { sessionId } = plan;
    const { journal } = this.#parts;
    const outcome = decidePlan(decision, this.#asks(sessionId));
    if (!outcome.ok) throw new AppError("invalid_transition", { plan_id: planId, detail: outcome.notice });
    await journal.record(sessionId, "process", () => {
      const { decision: first, decidedBy } = this.#get(planId);
      if (first !== undefined) throw new AppError("approval_decided", { plan_id: planId, resolvedBy: decidedBy });
      return { type: "plan", payload: { planId, decision, by: by.id }, source: by };
    });
    if (outcome.line !== undefined) await this.#type(plan, outcome.line, by);
    const payload = { kind: "notice", text: outcome.notice };
    await journal.note(sessionId, "process", [{ type: "chat", payload, source: SYSTEM }]);
    return { ...this.#get(planId), notice: outcome.notice };
  }

  async #type(plan: FoundPlan, line: string, by: Actor): Promise<void> {
    const { typist, sessions, logger } = this.#parts;
    try {
      await typist.line(plan.sessionId, line, by);
    } catch (error) {
      logger.info("a plan could not be cancelled", { session: plan.sessionId, by, error });
      if (sessions.isOpen(plan.sessionId)) await this.#takeBack(plan, error);
      throw error;
    }
  }

  /** Told again as it was found, it is undecided. */
  async #takeBack({ planId, sessionId, title, steps }: FoundPlan, error: unknown): Promise<void> {
    const why = wordsOf(error, (id) => id) ?? "It is a fault of ours.";
    await this.#parts.journal.note(sessionId, "process", [
      { type: "plan", payload: { planId, title, steps: [...steps] }, source: SYSTEM },
      { type: "chat", payload: { kind: "notice", text: `Plan not cancelled. ${why}` }, source: SYSTEM },
    ]);
  }

  #get(planId: string): FoundPlan {
    const plan = this.#plans.get(planId);
    if (plan === undefined) throw new AppError("not_found", { what: "plan", id: planId });
    return plan;
  }

  #asks(sessionId: string): boolean {
    const kind = this.#parts.blocks.question(sessionId)?.kind;
    return kind !== undefined && !takesAnyText(kind);
  }

  #note({ type, payload, sessionId }: StoredEvent): void {
    const isOver = type === "status" && payload["status"] === "closed";
    if (isOver) {
      this.#searches.delete(sessionId);
      this.#unsettle(sessionId);
    }
    if (isOver || (type === "stdout" && !this.#parts.threads.isBound(sessionId))) this.#cursors.delete(sessionId);
    else if (type === "stdout") {
      if (!this.#cursors.has(sessionId)) this.#cursors.set(sessionId, Number(payload["cursor"] ?? 0));
      void this.#look(sessionId);
    }
  }

  /** Until nothing is new; what comes meanwhile is looked at in the same go. */
  async #look(sessionId: string): Promise<void> {
    if (this.#looking.has(sessionId)) return;
    this.#looking.add(sessionId);
    try {
      for (;;) {
        const from = this.#cursors.get(sessionId);
        if (from === undefined) return;
        const { bytes, to } = await freshOutput(this.#parts.output, sessionId, { from, maxBytes: LOOKED_MAX });
        if (to === from) return;
        if (this.#cursors.has(sessionId)) this.#cursors.set(sessionId, to);
        for (const piece of piecesOf(displayText(bytes, TEXT).text)) this.#search(sessionId, piece, { isQuiet: false });
      }
    } catch (error) {
      this.#parts.logger.warn("output could not be searched for a plan", { session: sessionId, error });
    } finally {
      this.#looking.delete(sessionId);
    }
  }

  #search(sessionId: string, text: string, { isQuiet }: { readonly isQuiet: boolean }): void {
    const before = this.#searches.get(sessionId) ?? EMPTY_SEARCH;
    const { search, plan, mayGoOn } = searchPlan(before, text, { asking: this.#asks(sessionId), isQuiet });
    this.#searches.set(sessionId, search);
    this.#unsettle(sessionId);
    if (plan !== undefined) this.#tell(sessionId, { planId: this.#parts.newId(), ...plan });
    else if (mayGoOn === true) this.#settle(sessionId);
  }

  #settle(sessionId: string): void {
    const settled = (): void => this.#search(sessionId, "", { isQuiet: true });
    const { planMs } = { ...PACE, ...this.#parts.pace };
    this.#settling.set(sessionId, setTimeout(settled, planMs).unref());
  }

  #unsettle(sessionId: string): void {
    clearTimeout(this.#settling.get(sessionId));
    this.#settling.delete(sessionId);
  }

  #tell(sessionId: string, payload: JsonObject): void {
    const { journal, logger } = this.#parts;
    journal.note(sessionId, "process", [{ type: "plan", payload, source: SYSTEM }]).catch((error: unknown) => {
      logger.warn("a plan could not be stored", { session: sessionId, error });
    });
  }

  #fold({ payload, sessionId, timestamp }: StoredEvent): void {
    const { planId, title, steps, decision, by } = payload as unknown as PlanTold;
    const known = this.#plans.get(planId);
    if (title !== undefined && steps !== undefined)
      this.#plans.set(planId, { planId, sessionId, title, steps, foundAt: known?.foundAt ?? timestamp });
    else if (known !== undefined && known.decision === undefined && decision !== undefined)
      this.#plans.set(planId, { ...known, decision, ...(by !== undefined && { decidedBy: by }) });
    const [oldest = ""] = this.#plans.keys();
    if (this.#plans.size > KEPT) this.#plans.delete(oldest);
  }
}
