/**
 * One session as control sees it: what its gate said last, what the log has of it, and who wants to know when that
 * changes. The gate is ahead of the log, so each loss of control is told from whichever brings it first, once.
 */
import type { Actor } from "../domain/actor.ts";
import { applyControl } from "../domain/control-record.ts";
import { type ControlState, initialControl } from "../domain/control-state.ts";
import type { StoredEvent } from "../domain/event.ts";
import type { SessionBirth, SessionStatus } from "../domain/session.ts";
import type { ControlAnswer } from "./ports.ts";
import { woken } from "./woken.ts";

/** Where an agent lost control, for what it is told when it has it again. */
export type LostAt = { readonly cursor: number; readonly position: number };

export type Loss = { readonly sessionId: string; readonly agentId: string; readonly state: ControlState };

type Watch = { readonly agentId: string; readonly epoch: number; readonly lost: (state: ControlState) => void };

export class ControlledSession {
  readonly birth: SessionBirth;
  /** This hub has seen all of it since it was begun or taken up. */
  isOurs: boolean;
  /** Its gate is being told who is there. */
  isTelling = false;
  readonly #onLoss: (loss: Loss) => void;
  readonly #lostAt = new Map<string, LostAt>();
  readonly #watches = new Set<Watch>();
  /** Agents whose request came to nothing while they did not wait for an answer. */
  readonly #unheard = new Set<string>();
  readonly #waiting = new Set<() => void>();
  #status: SessionStatus = "created";
  /** The fold of the log. */
  #folded: ControlState;
  #foldedTo = 0;
  /** What the gate said last, if the log doesn't have it yet. */
  #present: ControlState;
  #presentTo = 0;

  constructor(birth: SessionBirth, isOurs: boolean, onLoss: (loss: Loss) => void) {
    this.birth = birth;
    this.isOurs = isOurs;
    this.#onLoss = onLoss;
    this.#folded = this.#present = initialControl(birth.interactive);
  }

  get status(): SessionStatus {
    return this.#status;
  }

  get present(): ControlState {
    return this.#present;
  }

  lostAt(agentId: string): LostAt | undefined {
    return this.#lostAt.get(agentId);
  }

  /** An event of the log about its life or its control. */
  fold(event: StoredEvent): void {
    if (event.type === "status") this.#status = (event.payload["status"] as SessionStatus | undefined) ?? this.#status;
    else this.#foldControl(event);
    this.#wake();
  }

  /** What the gate says now; what is older than what is known counts for nothing. */
  learn({ state, position }: ControlAnswer): void {
    if (position < this.#presentTo || state.epoch < this.#present.epoch) return;
    this.#becomes(state, position);
    this.#wake();
  }

  /** Whether this agent's request came to nothing and it has not heard of it; it has now. */
  hears(agentId: string): boolean {
    return this.#unheard.delete(agentId);
  }

  /** Resolves with the next change of anything here, or when the signal says that it takes too long. */
  async changed(signal: AbortSignal): Promise<void> {
    await woken(this.#waiting, signal);
  }

  /** Resolves when the log has what the gate said so far, or the signal says that it takes too long. */
  async recorded(signal: AbortSignal): Promise<void> {
    const position = this.#presentTo;
    while (this.#foldedTo < position && !signal.aborted) await this.changed(signal);
  }

  /** Aborted when the agent loses the control that it has; an agent without control has nothing to lose. */
  watch(by: Actor): { readonly signal: AbortSignal } & Disposable {
    const lost = new AbortController();
    const { mode, holder, epoch } = this.#present;
    const isDriving = by.kind === "agent" && mode === "AGENT" && holder?.id === by.id;
    const watch = { agentId: by.id, epoch, lost: (state: ControlState) => lost.abort(new ControlLost(state)) };
    if (isDriving) this.#watches.add(watch);
    return { signal: lost.signal, [Symbol.dispose]: () => void this.#watches.delete(watch) };
  }

  #foldControl(event: StoredEvent): void {
    const before = this.#folded;
    const position = event.position ?? this.#foldedTo;
    this.#folded = applyControl(before, event) ?? before;
    this.#foldedTo = position;
    if (before.mode === "AGENT" && before.holder !== null && !isSameDriver(before, this.#folded)) {
      this.#lostAt.set(before.holder.id, { cursor: event.cursor ?? 0, position });
    }
    if (position >= this.#presentTo) this.#becomes(this.#folded, position);
    else if (this.#folded.epoch !== before.epoch) this.#tellWatches(this.#folded);
  }

  #becomes(state: ControlState, position: number): void {
    const before = this.#present;
    this.#present = state;
    this.#presentTo = position;
    if (this.isOurs) this.#keepAnswer(before.request?.agentId, state);
    if (state.epoch === before.epoch) return;
    this.#tellWatches(state);
    if (before.mode !== "AGENT" || before.holder === null || isSameDriver(before, state)) return;
    this.#onLoss({ sessionId: this.birth.sessionId, agentId: before.holder.id, state });
  }

  #keepAnswer(asked: string | undefined, { request, mode, holder }: ControlState): void {
    if (request !== null) this.#unheard.delete(request.agentId);
    const isGranted = mode === "AGENT" && (holder === null || holder.id === asked);
    if (asked !== undefined && request?.agentId !== asked && !isGranted) this.#unheard.add(asked);
  }

  #tellWatches(state: ControlState): void {
    for (const watch of this.#watches) {
      if (watch.epoch >= state.epoch || (state.mode === "AGENT" && state.holder?.id === watch.agentId)) continue;
      this.#watches.delete(watch);
      watch.lost(state);
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
  }
}

/** Why a call of an agent ended before its time. */
export class ControlLost extends Error {
  override readonly name = "ControlLost";
  readonly state: ControlState;

  constructor(state: ControlState) {
    super("control was lost");
    this.state = state;
  }
}

function isSameDriver(before: ControlState, after: ControlState): boolean {
  return after.mode === "AGENT" && after.holder?.id === before.holder?.id;
}
