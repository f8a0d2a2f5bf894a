/**
 * One answer on its way into a program, against the world: types what the pure machine says, looks at what the host told since, and
 * waits for the next thing to happen. Output alone is no proof where a program draws; there the host's next word is.
 * Rules PMT-70..PMT-78 in docs/spec/prompts.md.
 */
import type { StoredEvent } from "../domain/event.ts";
import type { PromptOutcome } from "../domain/prompts/asked-prompt.ts";
import type { Feedback } from "../domain/prompts/feedback.ts";
import {
  beginInjection,
  type Injection,
  type InjectionOrder,
  type Observation,
  observeInjection,
  printedBeyondEcho,
} from "../domain/prompts/injection.ts";
import type { PromptEntry } from "../domain/prompts/prompt.ts";
import { afterEnter, beforeEnter, type Seen, type Verdict } from "../domain/prompts/standing.ts";
import { AppError } from "../protocol/errors.ts";
import type { InputTaken } from "./ports.ts";
import { woken } from "./woken.ts";

export type InjectionWorld = {
  readonly now: () => number;
  /** Goes in only if that instance stands. */
  readonly type: (write: string, promptId: string) => Promise<InputTaken>;
  readonly tell: (feedback: Feedback) => Promise<void>;
  /** The session's output from a cursor on: a piece of it, empty at the end. */
  readonly output: (cursor: number) => Promise<string>;
};

export type InjectionSubject = {
  readonly promptId: string;
  readonly order: InjectionOrder;
  readonly entry: PromptEntry;
  /** Nobody can look at the reader. */
  readonly blind: boolean;
  /** Absent: the question can't be recognised again. */
  readonly seen: Seen | undefined;
};

type Instance = { readonly promptId: string; readonly position: number; verdict?: Verdict; printed?: boolean };

/** Long before that a program that waits would have been found, also one that has yet to wake for what was typed (PTY-36). */
const LOOKED_MS = 500;
/** More than a screen that is drawn anew in colours. */
const OUTPUT_MAX = 64 * 1024;

export class RunningInjection {
  readonly #subject: InjectionSubject;
  readonly #world: InjectionWorld;
  readonly #waiting = new Set<() => void>();
  #state: Injection | undefined;
  #taken: InputTaken | undefined;
  #typed = "";
  #instance: Instance | undefined;
  /** Positions at which nobody waited. */
  #overAt = 0;
  #quietAt = 0;
  #version = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(subject: InjectionSubject, world: InjectionWorld) {
    this.#subject = subject;
    this.#world = world;
  }

  /** The first write; rejects with nothing done when the gate refuses it. */
  async begin(): Promise<void> {
    const step = beginInjection(this.#subject.order, this.#world.now());
    await this.#write(step.write ?? "", this.#subject.promptId, step.state);
    for (const feedback of step.tell) await this.#world.tell(feedback);
  }

  async run(signal: AbortSignal): Promise<PromptOutcome> {
    for (;;) {
      const state = this.#state!;
      if (state.phase === "done") return state.outcome;
      if (signal.aborted) return "unknown";
      const version = this.#version;
      await this.#step(state);
      if (version !== this.#version || this.#state?.phase === "done") continue;
      const leftMs = Math.max(1, this.#deadline() - this.#world.now());
      await woken(this.#waiting, AbortSignal.any([signal, AbortSignal.timeout(leftMs)]));
    }
  }

  /** Something happened in the session. */
  note({ type, payload, position = 0 }: StoredEvent): void {
    if (type === "prompt" && payload["kind"] !== "shell") {
      const { promptId = "" } = payload as { promptId?: string };
      this.#instance = { promptId, position };
    } else if (type === "quiet") {
      if (Number(payload["ms"]) >= LOOKED_MS) this.#quietAt = position;
    } else if (type === "status") {
      if (payload["status"] === "closed") this.#overAt = Number.MAX_SAFE_INTEGER;
    } else if (type === "prompt" || type === "agent_block_end" || type === "prompt_decision") {
      this.#overAt = Math.max(this.#overAt, position);
    }
    this.#wake();
  }

  /** What stands on the screen with an instance, asked or not; true: it is the question that is being answered. */
  async judge(promptId: string, seen: Seen): Promise<boolean> {
    await this.#writing;
    const instance = this.#instance;
    if (instance?.promptId !== promptId || this.#taken === undefined) return false;
    const output = await this.#output(this.#taken.cursor);
    instance.printed = printedBeyondEcho(output, this.#subject.order.writes.at(-1) ?? "");
    instance.verdict = this.#verdict(seen, output, instance.printed);
    this.#wake();
    return instance.verdict !== "other";
  }

  #verdict(seen: Seen, output: string, printed: boolean): Verdict {
    const { seen: before, order, entry } = this.#subject;
    const isTyping = this.#state?.phase === "typing";
    if (before === undefined) return isTyping ? "doubt" : "other";
    const written = { typed: this.#typed, output, isSecret: order.plan.suppressValue };
    if (isTyping) return beforeEnter(before, seen, written);
    // Who reads lines prints nothing between but the echo.
    return entry === "line" && printed ? "other" : afterEnter(before, seen, written);
  }

  async #step(state: Injection): Promise<void> {
    const { write, state: next, tell } = observeInjection(state, this.#subject.order, await this.#look());
    if (write !== undefined) {
      const written = await this.#writeAgain(write, next);
      if (written === "gone") return;
      if (written === "refused") return this.#refused(state);
    } else this.#state = next;
    for (const feedback of tell) await this.#world.tell(feedback);
  }

  /** `gone`: the question has just moved on, and what comes next tells how. */
  async #writeAgain(write: string, next: Injection): Promise<"ok" | "gone" | "refused"> {
    const { promptId } = this.#instance ?? this.#subject;
    try {
      await this.#write(write, promptId, next);
      return "ok";
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code !== "prompt_gone") return "refused";
      if (this.#instance?.promptId === promptId) this.#instance = undefined;
      return "gone";
    }
  }

  async #refused({ phase, retries }: Injection): Promise<void> {
    this.#state = { phase: "done", outcome: "escalated", retries };
    await this.#world.tell(phase === "typing" ? "unfinished" : "escalated");
  }

  async #write(write: string, promptId: string, next: Injection): Promise<void> {
    const writing = this.#put(write, promptId, next);
    // What appears meanwhile is judged as what comes after this write.
    this.#writing = writing.catch(() => undefined);
    await writing;
  }

  async #put(write: string, promptId: string, next: Injection): Promise<void> {
    this.#taken = await this.#world.type(write, promptId);
    if (!write.endsWith("\r")) this.#typed += write;
    this.#state = next;
  }

  async #look(): Promise<Observation> {
    const at = this.#world.now();
    const { position, cursor } = this.#taken!;
    const { blind, entry, order } = this.#subject;
    const seen = (waits: Observation["waits"], printed = false): Observation => ({ at, waits, printed });
    const next = this.#instance !== undefined && this.#instance.position > position ? this.#instance : undefined;
    if (this.#overAt > Math.max(position, next?.position ?? 0)) return seen("nobody");
    const printed = async () => printedBeyondEcho(await this.#output(cursor), order.writes.at(-1) ?? "");
    // A remote program draws at every key: before Enter only the screen tells.
    if (blind && this.#state?.phase !== "typing") return seen("unknown", await printed());
    if (next !== undefined) return seen(this.#waitsOf(next), next.verdict === "same" && next.printed);
    if (blind) return seen("unknown");
    if (this.#quietAt > position || at >= this.#deadline()) return seen("nobody");
    return seen("unknown", entry === "line" && (await printed()));
  }

  /** A character cut by the end of a piece may be lost: then a question isn't recognised, and nothing is typed for it. */
  async #output(cursor: number): Promise<string> {
    let output = "";
    let at = cursor;
    while (output.length < OUTPUT_MAX) {
      const piece = await this.#world.output(at);
      if (piece === "") break;
      output += piece;
      at += Buffer.byteLength(piece);
    }
    return output;
  }

  #waitsOf({ verdict = "doubt", position }: Instance): Observation["waits"] {
    if (verdict === "doubt") return "unknown";
    if (verdict !== "again") return verdict;
    // What was typed may still be drawn.
    return this.#quietAt > position ? "other" : "unknown";
  }

  #deadline(): number {
    const state = this.#state;
    if (state?.phase === "delaying") return state.until;
    if (state === undefined || state.phase === "done") return Number.MAX_SAFE_INTEGER;
    return state.since + this.#subject.order.plan.advanceTimeoutMs;
  }

  #wake(): void {
    this.#version += 1;
    for (const wake of this.#waiting) wake();
  }
}
