/**
 * What programs ask people. The host says that a question stands (`prompt`); the end of the screen says what it is, and what can be
 * answered is offered: recorded with a nonce and a time, offered again while it stands, and gone when it doesn't. What stands is
 * the block desk's fold; only the gate knows now. Rules PMT-100..PMT-108 in docs/spec/prompts.md.
 */
import { SYSTEM } from "../domain/actor.ts";
import type { StoredEvent } from "../domain/event.ts";
import {
  applyPrompt,
  type AskedPrompt,
  PROMPT_EVENTS,
  type PromptOffer,
  type PromptStatus,
} from "../domain/prompts/asked-prompt.ts";
import { claimWarning } from "../domain/prompts/claims.ts";
import { classifyPrompt, QUIET_MS } from "../domain/prompts/classifier.ts";
import { fuse, type Fused, type MLClassifier, nullMLClassifier } from "../domain/prompts/fuser.ts";
import { PROMPT_TTL_MS } from "../domain/prompts/pending-prompt.ts";
import type { PromptEvidence } from "../domain/prompts/prompt.ts";
import { isTypedInto, type Seen } from "../domain/prompts/standing.ts";
import type { Confidence, WaitingKind } from "../domain/waiting.ts";
import type { Logger } from "../lib/logger.ts";
import { startTimer } from "../lib/long-timer.ts";
import { Turns } from "../lib/turns.ts";
import { AppError } from "../protocol/errors.ts";
import type { BlockDesk, Question } from "./block-desk.ts";
import { follow, type Journal } from "./journal.ts";
import type { Clock } from "./ports.ts";
import { seenOn, viewOf } from "./prompt-view.ts";
import { RestlessReaders } from "./restless-readers.ts";
import type { RunningInjection } from "./running-injection.ts";
import type { SessionDesk } from "./session-desk.ts";
import { woken } from "./woken.ts";

export type PromptDeskParts = {
  readonly journal: Journal;
  readonly sessions: SessionDesk;
  readonly blocks: BlockDesk;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newSecret: () => string;
  readonly ml?: MLClassifier | undefined;
  /** How long an offer can be answered. */
  readonly ttlMs?: number | undefined;
};

/** Finished ones that stay at hand; all of them are in the log. */
const FINISHED_KEPT = 500;
/** After these something else may stand in a session, or nothing. */
const TURNING: ReadonlySet<string> = new Set([
  "prompt",
  "prompt_decision",
  "input",
  "agent_block_begin",
  "agent_block_end",
  "status",
]);

export class PromptDesk {
  readonly #parts: PromptDeskParts;
  readonly #asked = new Map<string, AskedPrompt>();
  /** Offered, and neither answered nor gone. */
  readonly #open = new Set<string>();
  readonly #timers = new Map<string, Disposable>();
  /** Of what is open: its first offer, which says since when, and the last. */
  readonly #offers = new Map<string, { readonly first: number; readonly last: number }>();
  /** Oldest first. */
  readonly #finished = new Set<string>();
  /** The last question of each session as it was seen. */
  readonly #seen = new Map<string, Seen & { readonly promptId: string }>();
  readonly #restless = new RestlessReaders();
  readonly #running = new Map<string, RunningInjection>();
  readonly #looking = new Turns();
  readonly #waiting = new Set<() => void>();
  #stopped = false;

  constructor(parts: PromptDeskParts) {
    this.#parts = parts;
  }

  /** After the sessions are taken up: what stands is offered, what doesn't is gone. */
  async start(): Promise<void> {
    const { journal, sessions, blocks } = this.#parts;
    await follow(journal.log, PROMPT_EVENTS, (event) => this.#fold(event));
    journal.log.observe((events) => {
      for (const event of events) this.#note(event);
    });
    for (const { sessionId } of sessions.list().filter((it) => it.status !== "closed")) {
      const { promptId } = blocks.question(sessionId) ?? {};
      const known = promptId === undefined ? undefined : this.#asked.get(promptId);
      if (known === undefined) this.#classify(sessionId, promptId);
      // Nothing has gone in since it was asked, so an answer that was on its way never arrived.
      else if (known.outcome === undefined) {
        await this.#offerAgain(known);
        this.#recognise(known);
      }
    }
    for (const it of this.#asked.values()) if (it.status === "pending" && !this.#stands(it)) await this.#end(it);
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers.values()) timer[Symbol.dispose]();
    this.#timers.clear();
  }

  list(status?: PromptStatus): readonly AskedPrompt[] {
    const all = [...this.#asked.values()].map((it) => this.#present(it));
    return all.filter((it) => status === undefined || it.status === status);
  }

  get(promptId: string): AskedPrompt {
    const asked = this.find(promptId);
    if (asked === undefined) throw new AppError("not_found", { what: "prompt", id: promptId });
    return asked;
  }

  find(promptId: string): AskedPrompt | undefined {
    const asked = this.#asked.get(promptId);
    return asked === undefined ? undefined : this.#present(asked);
  }

  /** The events that a restarted hub needs to know what is asked. */
  pendingSequences(): ReadonlySet<number> {
    const offers = [...this.#offers.values()].flatMap(({ first, last }) => [first, last]);
    return new Set([...this.#parts.blocks.standingSequences(), ...offers]);
  }

  /** What stands in a session, if it is one that people were asked. */
  standing(sessionId: string): AskedPrompt | undefined {
    const { promptId = "" } = this.#parts.blocks.question(sessionId) ?? {};
    return this.#asked.get(promptId);
  }

  /** Resolves when all that waits now was looked at: until then nobody knows whether it is a question. */
  async looked(sessionId: string): Promise<void> {
    await this.#looking.run(sessionId, async () => undefined);
  }

  seen(promptId: string): Seen | undefined {
    const seen = this.#seen.get(this.#asked.get(promptId)?.sessionId ?? "");
    return seen?.promptId === promptId ? seen : undefined;
  }

  /** Resolves when it is answered and the outcome known, or the signal is aborted. */
  async settled(promptId: string, signal: AbortSignal): Promise<AskedPrompt> {
    for (;;) {
      const asked = this.get(promptId);
      if (signal.aborted || asked.outcome !== undefined || asked.status === "gone") return asked;
      await woken(this.#waiting, signal);
    }
  }

  /** Instances of the question that is being answered are not offered; afterwards what then stands is. */
  async during<T>(sessionId: string, running: RunningInjection, act: () => Promise<T>): Promise<T> {
    this.#running.set(sessionId, running);
    try {
      return await act();
    } finally {
      if (this.#running.get(sessionId) === running) this.#running.delete(sessionId);
      const { promptId } = this.#parts.blocks.question(sessionId) ?? {};
      if (promptId !== undefined && !this.#asked.has(promptId)) this.#classify(sessionId, promptId);
    }
  }

  #present(asked: AskedPrompt): AskedPrompt {
    return asked.status === "pending" && !this.#stands(asked) ? { ...asked, status: "gone" } : asked;
  }

  #stands({ promptId, sessionId }: AskedPrompt): boolean {
    return this.#parts.blocks.question(sessionId)?.promptId === promptId && this.#parts.sessions.isOpen(sessionId);
  }

  #note(event: StoredEvent): void {
    const { type, sessionId, payload } = event;
    this.#running.get(sessionId)?.note(event);
    if (type === "quiet" && Number(payload["ms"]) >= QUIET_MS) this.#lookAgain(sessionId, Number(payload["ms"]));
    if (!TURNING.has(type)) return;
    if (type === "prompt" && payload["kind"] !== "shell") this.#classify(sessionId, promptIdOf(event));
    if (type === "status" && payload["status"] === "closed") {
      this.#seen.delete(sessionId);
      this.#restless.forget(sessionId);
    }
    for (const promptId of this.#open) {
      const asked = this.#asked.get(promptId);
      if (asked?.sessionId !== sessionId || asked.status !== "pending" || this.#stands(asked)) continue;
      const seen = type === "input" ? undefined : this.seen(promptId);
      if (seen !== undefined) this.#restless.wentOn(sessionId, seen.pid);
      void this.#end(asked);
    }
  }

  /** Where nobody can look, quiet has to do. */
  #lookAgain(sessionId: string, quietMs: number): void {
    const question = this.#parts.blocks.question(sessionId);
    if (question === undefined || this.#asked.has(question.promptId)) return;
    const isUnsure = question.kind === "opaque" || this.#restless.has(sessionId, question.pid);
    if (isUnsure) this.#classify(sessionId, question.promptId, quietMs);
  }

  #classify(sessionId: string, promptId: string | undefined, quietMs = 0): void {
    if (promptId === undefined || this.#stopped) return;
    const looked = this.#looking.run(sessionId, () => this.#look(sessionId, promptId, quietMs));
    looked.catch((error: unknown) => {
      this.#parts.logger.warn("a question could not be looked at", { session: sessionId, error });
    });
  }

  /** Without how it stands on the screen an answer's Enter could not follow its text. */
  #recognise({ sessionId, promptId, question }: AskedPrompt): void {
    const seeing = this.#looking.run(sessionId, async () => {
      const driver = await this.#parts.sessions.running(sessionId);
      const view = driver && viewOf(await driver.screen(sessionId));
      const standing = this.#parts.blocks.question(sessionId);
      if (view === undefined || standing?.promptId !== promptId) return;
      this.#seen.set(sessionId, { ...seenOn(view, question, standing.pid), promptId });
    });
    seeing.catch((error: unknown) => {
      this.#parts.logger.warn("a question could not be looked at", { session: sessionId, error });
    });
  }

  async #look(sessionId: string, promptId: string, quietMs: number): Promise<void> {
    const { blocks, sessions, ml = nullMLClassifier } = this.#parts;
    const stands = (): Question | undefined => {
      const question = blocks.question(sessionId);
      return question?.promptId === promptId && !this.#asked.has(promptId) ? question : undefined;
    };
    const driver = stands() === undefined ? undefined : await sessions.running(sessionId);
    if (driver === undefined) return;
    const view = viewOf(await driver.screen(sessionId));
    const question = stands();
    if (question === undefined) return;
    const found = classifyPrompt(view, evidenceOf(question, quietMs));
    if (!found.asked && found.reason === "still_printing") return;
    const isGuess = found.asked && found.prompt.class === "FREE_TEXT";
    if (isGuess && quietMs < QUIET_MS && this.#restless.has(sessionId, question.pid)) return;
    const seen = seenOn(view, found.asked ? found.prompt.question : "", question.pid);
    const isOurs = await this.#running.get(sessionId)?.judge(promptId, seen);
    if (!found.asked || isOurs === true || stands() === undefined) return;
    const before = this.#seen.get(sessionId);
    if (before !== undefined && isTypedInto(before, seen)) return;
    this.#seen.set(sessionId, { ...seen, promptId });
    // A prompt of an interpreter asks nothing.
    if (found.prompt.class === "CHAT_INPUT") return;
    await this.#offer(fuse(found.prompt, ml.classify(view.lines.join("\n"), found.prompt.class)), question, sessionId);
  }

  async #offer(fused: Fused, { promptId, kind, program }: Question, sessionId: string): Promise<void> {
    const { prompt, class: shownAs, confidence, source, disagreement, escalate, typing } = fused;
    const warning = claimWarning(prompt.question, program);
    await this.#record(sessionId, {
      ...prompt,
      confidence,
      source,
      disagreement,
      escalate,
      typing,
      shownAs,
      promptId,
      kind: kind as WaitingKind,
      program,
      ...(warning !== undefined && { warning }),
      ...this.#terms(),
    });
  }

  async #offerAgain(asked: AskedPrompt): Promise<void> {
    const { sessionId, status: _status, askedAt: _askedAt, answeredBy: _by, outcome: _outcome, ...rest } = asked;
    const { feedback: _feedback, ...offer } = rest;
    await this.#record(sessionId, { ...offer, ...this.#terms() });
  }

  #terms(): Pick<PromptOffer, "nonce" | "expiresAt"> {
    const { clock, newSecret, ttlMs = PROMPT_TTL_MS } = this.#parts;
    return { nonce: newSecret(), expiresAt: new Date(clock.now() + ttlMs).toISOString() };
  }

  async #record(sessionId: string, offer: PromptOffer): Promise<void> {
    await this.#parts.journal.note(sessionId, "process", [{ type: "prompt_request", payload: offer, source: SYSTEM }]);
  }

  async #end({ sessionId, promptId }: AskedPrompt): Promise<void> {
    const payload = { promptId, status: "gone" };
    const gone = { type: "prompt_decision", payload, source: SYSTEM } as const;
    this.#open.delete(promptId);
    await this.#parts.journal.note(sessionId, "process", [gone]).catch((error: unknown) => {
      this.#parts.logger.warn("the end of a question could not be stored", { session: sessionId, error });
    });
  }

  #fold(event: StoredEvent): void {
    const { promptId = "" } = event.payload as { promptId?: string };
    const next = applyPrompt(this.#asked.get(promptId), event);
    if (next === undefined) return;
    this.#asked.set(promptId, next);
    if (event.type === "prompt_request") {
      const { sequence } = event;
      this.#offers.set(promptId, { first: this.#offers.get(promptId)?.first ?? sequence, last: sequence });
    }
    this.#timers.get(promptId)?.[Symbol.dispose]();
    this.#timers.delete(promptId);
    if (next.status === "pending") {
      this.#open.add(promptId);
      this.#finished.delete(promptId);
      this.#arm(next);
    } else this.#finish(promptId);
    if (next.status === "gone" || next.outcome !== undefined) this.#offers.delete(promptId);
    for (const wake of this.#waiting) wake();
  }

  /** An old button must not answer, but whoever comes late may. */
  #arm(asked: AskedPrompt): void {
    const { promptId, expiresAt } = asked;
    const left = Date.parse(expiresAt) - this.#parts.clock.now();
    const renew = (): void => {
      const now = this.#asked.get(promptId);
      if (this.#stopped || now?.status !== "pending" || !this.#stands(now)) return;
      this.#offerAgain(now).catch((error: unknown) => {
        this.#parts.logger.warn("a question could not be offered again", { session: now.sessionId, error });
      });
    };
    this.#timers.set(promptId, startTimer(left, renew));
  }

  #finish(promptId: string): void {
    this.#open.delete(promptId);
    this.#finished.add(promptId);
    const [oldest = ""] = this.#finished;
    if (this.#finished.size <= FINISHED_KEPT) return;
    this.#finished.delete(oldest);
    this.#asked.delete(oldest);
  }
}

function promptIdOf({ payload }: StoredEvent): string | undefined {
  return (payload as { promptId?: string }).promptId;
}

function evidenceOf(question: Question, quietMs: number): PromptEvidence {
  const { kind, confidence, program, echo, canonical } = question;
  return { kind: kind as WaitingKind, confidence: confidence as Confidence, program, echo, canonical, quietMs };
}
