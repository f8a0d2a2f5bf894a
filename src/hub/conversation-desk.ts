/**
 * Which thread of a chat talks to which session, and how that session stands. Bindings are events and survive a restart; the state
 * is what the log says of the session since. What waits is told apart from what is said: only it is stored, for operators alone.
 * Rules CNV-1..CNV-7, CNV-20..CNV-26 in docs/spec/conversations.md.
 */
import { type Actor, SYSTEM } from "../domain/actor.ts";
import {
  applyConversation,
  type Binding,
  bindingsOf,
  type ConversationCommand,
  type ConversationDecision,
  type ConversationEvent,
  conversationOf,
  type Conversations,
  type ConversationState,
  decideConversation,
  isLive,
  isThread,
  NO_CONVERSATIONS,
  type QueuedMessage,
  resolveThread,
  type Thread,
  threadKey,
} from "../domain/conversation.ts";
import { HUB_STREAM, type JsonObject, type StoredEvent } from "../domain/event.ts";
import { BATCH_MS } from "../domain/prompts/output-batch.ts";
import type { Logger } from "../lib/logger.ts";
import { startTimer } from "../lib/long-timer.ts";
import { Turns } from "../lib/turns.ts";
import { AppError } from "../protocol/errors.ts";
import { follow, type Journal } from "./journal.ts";
import { PACE, type Pace } from "./pace.ts";
import type { Clock } from "./ports.ts";
import type { PromptDesk } from "./prompt-desk.ts";
import type { SessionDesk } from "./session-desk.ts";
import type { WorkspaceDesk } from "./workspace-desk.ts";

export type ConversationDeskParts = {
  readonly journal: Journal;
  readonly prompts: PromptDesk;
  readonly sessions: SessionDesk;
  readonly workspaces: WorkspaceDesk;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pace?: Partial<Pace> | undefined;
};

export type BoundThread = Thread & { readonly sessionId: string; readonly state: ConversationState };

type Say = Omit<Extract<ConversationCommand, { type: "say" }>, "type" | "at" | "by" | "whileStreaming">;

/** What of a decision is kept: nothing that was said, but for what waits. */
const KEPT: ReadonlySet<string> = new Set(["conversation.touched", "conversation.queued"]);
const ALL = "all";

export class ConversationDesk {
  readonly #parts: ConversationDeskParts;
  #all: Conversations = NO_CONVERSATIONS;
  readonly #settled: ((sessionId: string) => void)[] = [];
  /** What of the queue is decided is stored before the next is: else a message were both typed and told as not sent. */
  readonly #turns = new Turns();
  readonly #timers = new Map<string, Disposable>();
  #stopped = false;

  constructor(parts: ConversationDeskParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    const { journal, sessions } = this.#parts;
    await follow(journal.log, ["conversation"], ({ payload }) => {
      this.#all = applyConversation(this.#all, payload as unknown as ConversationEvent);
    });
    journal.log.observe((events) => {
      for (const event of events) this.#note(event);
    });
    // Some may have ended while nobody was here.
    for (const sessionId of Object.keys(this.#all.sessions)) {
      if (!sessions.isOpen(sessionId)) await this.unbind(sessionId, SYSTEM);
      else if (this.isBound(sessionId)) {
        this.#catchUp(sessionId);
        await this.#goOn(sessionId);
      }
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers.values()) timer[Symbol.dispose]();
    this.#timers.clear();
  }

  /** Called when a program has settled for which a message waits. */
  onSettled(listener: (sessionId: string) => void): void {
    this.#settled.push(listener);
  }

  async bind(thread: Thread, sessionId: string, by: Actor): Promise<BoundThread> {
    const { clock, sessions } = this.#parts;
    const { status } = sessions.get(sessionId);
    if (status === "closed") throw new AppError("invalid_transition", { status, detail: "The session is closed" });
    const at = clock.now();
    await this.#record({ type: "prune", at }, SYSTEM);
    await this.#record({ type: "bind", ...thread, sessionId, at, by: by.id }, by);
    this.#catchUp(sessionId);
    return this.resolve(thread);
  }

  sessionOf(thread: Thread): string | undefined {
    return resolveThread(this.#all, thread, this.#parts.clock.now());
  }

  resolve(thread: Thread): BoundThread {
    const sessionId = this.sessionOf(thread);
    if (sessionId === undefined) {
      throw new AppError("not_found", { what: "conversation", detail: "This thread is not bound to a session" });
    }
    return { ...thread, sessionId, state: conversationOf(this.#all, sessionId).state };
  }

  isBound(sessionId: string): boolean {
    return bindingsOf(this.#all, sessionId).length > 0;
  }

  /** Whose time is not over. */
  bindings(): readonly Binding[] {
    const now = this.#parts.clock.now();
    return this.#all.bindings.filter((it) => isLive(it, now));
  }

  stateOf(sessionId: string): ConversationState {
    return conversationOf(this.#all, sessionId).state;
  }

  /** How many messages do. */
  waiting(sessionId: string): number {
    return conversationOf(this.#all, sessionId).queue.length;
  }

  /** Whether the oldest that waits was said as chat, whatever is asked. */
  nextIsChat(sessionId: string): boolean {
    return conversationOf(this.#all, sessionId).queue[0]?.asChat === true;
  }

  /** Decides where a message goes. What goes to a program is the caller's to carry out, and is not stored. */
  async say(said: Say, by: Actor): Promise<ConversationDecision> {
    const at = this.#parts.clock.now();
    const whileStreaming = this.#whileStreaming(said);
    const decided = decideConversation(this.#all, { ...said, type: "say", by: by.id, at, whileStreaming });
    if (decided.ok) {
      const kept = decided.events.filter(({ type }) => KEPT.has(type));
      await this.#store(kept, by);
      for (const event of kept) if (event.type === "conversation.queued") this.#awaitQuiet(event.sessionId);
    }
    return decided;
  }

  expectsChat(thread: Thread): boolean {
    return this.#all.bindings.some((it) => isThread(it, thread) && it.chatNext === true);
  }

  /** The next thing that this thread says is chat. */
  async expectChat({ channel, threadId }: Thread, by: Actor): Promise<void> {
    await this.#record({ type: "expect_chat", channel, threadId }, by);
  }

  async leave({ channel, threadId }: Thread, by: Actor): Promise<void> {
    await this.#record({ type: "leave", channel, threadId }, by);
  }

  /** Takes the oldest message that waits; recorded before it is typed, so that no restart types it again. */
  async takeNext(sessionId: string): Promise<QueuedMessage | undefined> {
    await this.#record({ type: "prune", at: this.#parts.clock.now() }, SYSTEM);
    return this.#turns.run(ALL, async () => {
      const { state, queue, delivering } = conversationOf(this.#all, sessionId);
      const [first] = queue;
      const isFree = state === "RUNNING" || (state === "AWAITING_INPUT" && first?.asChat === true);
      if (!isFree || first === undefined || delivering === true) return undefined;
      const { text: _text, asChat: _asChat, ...rest } = first;
      const payload = { type: "conversation.chatted", ...rest, sessionId, fromQueue: true };
      await this.#store([payload], { kind: "person", id: first.by });
      return first;
    });
  }

  async delivered(sessionId: string): Promise<void> {
    await this.#record({ type: "delivered", sessionId }, SYSTEM);
    this.#awaitQuiet(sessionId);
  }

  async drop(sessionId: string, why: string, by?: string): Promise<void> {
    const before = await this.#record({ type: "drop", sessionId, by }, SYSTEM);
    const messages = conversationOf(before, sessionId).queue.filter((it) => it.by === (by ?? it.by));
    for (const [thread, count] of counted(messages)) await this.tell(thread, sessionId, unsent(count, why));
  }

  /** What somebody said who may say nothing any more. */
  async dropOf(by: string): Promise<void> {
    const waiting = Object.entries(this.#all.sessions).filter(([, { queue }]) => queue.some((it) => it.by === by));
    for (const [sessionId] of waiting) await this.drop(sessionId, "its author is off the list", by);
  }

  /** A notice for one thread. */
  async tell({ channel, threadId }: Thread, sessionId: string, text: string): Promise<void> {
    const { journal, sessions } = this.#parts;
    const stream = sessions.isOpen(sessionId) ? sessionId : HUB_STREAM;
    const payload = { kind: "notice", text, channel, threadId };
    await journal.note(stream, "process", [{ type: "chat", payload, source: SYSTEM }]);
  }

  /** Answers how many threads that were. A session that all have left is forgotten too. */
  async unbind(sessionId: string, by: Actor): Promise<number> {
    const bound = bindingsOf(this.#all, sessionId).length;
    if (this.#isKnown(sessionId)) await this.#record({ type: "unbind", sessionId }, by);
    return bound;
  }

  #whileStreaming(thread: Thread): "queue" | "reject" {
    const { sessions, workspaces } = this.#parts;
    const { workspaceId } = sessions.find(this.sessionOf(thread) ?? "") ?? {};
    return workspaceId === undefined ? "queue" : workspaces.get(workspaceId).settings.while_streaming;
  }

  /** Answers what it was decided against. */
  async #record(command: ConversationCommand, source: Actor): Promise<Conversations> {
    const { before, events } = await this.#turns.run(ALL, async () => {
      const all = this.#all;
      const decided = decideConversation(all, command);
      if (decided.ok) await this.#store(decided.events, source);
      return { before: all, events: decided.ok ? decided.events : [] };
    });
    for (const event of events) {
      if (event.type !== "conversation.unbound" || event.dropped === 0) continue;
      const { sessionId = "" } = before.bindings.find((it) => isThread(it, event)) ?? {};
      await this.tell(event, sessionId, unsent(event.dropped, UNBOUND[event.reason]));
    }
    return before;
  }

  async #store(payloads: readonly JsonObject[], source: Actor): Promise<void> {
    if (payloads.length === 0) return;
    const events = payloads.map((payload) => ({ type: "conversation" as const, payload, source }));
    await this.#parts.journal.note(HUB_STREAM, "process", events);
  }

  /** With what a hub before this one left: it may be typed, or not, and is not typed again. */
  async #goOn(sessionId: string): Promise<void> {
    const { delivering } = conversationOf(this.#all, sessionId);
    if (delivering === true) {
      await this.delivered(sessionId);
      for (const thread of bindingsOf(this.#all, sessionId)) await this.tell(thread, sessionId, UNKNOWN);
    }
    this.#awaitQuiet(sessionId);
  }

  /** While something waits: silence that nobody tells is silence too. */
  #awaitQuiet(sessionId: string): void {
    this.#timers.get(sessionId)?.[Symbol.dispose]();
    this.#timers.delete(sessionId);
    if (this.waiting(sessionId) === 0 || this.#stopped) return;
    const quiet = (): void => {
      this.#timers.delete(sessionId);
      this.#quiet(sessionId);
      this.#quiet(sessionId);
    };
    // The host tells of it too, but not again: after a restart a program may have been quiet all the while.
    const { settledMs } = { ...PACE, ...this.#parts.pace };
    this.#timers.set(sessionId, startTimer(settledMs, quiet));
  }

  #quiet(sessionId: string): void {
    const decided = decideConversation(this.#all, { type: "quiet", sessionId });
    if (!decided.ok) return;
    // Leaving the queue is recorded, by whoever carries it out.
    const isDue = decided.events.some(({ type }) => type === "conversation.chatted");
    const moves = decided.events.filter(({ type }) => type !== "conversation.chatted");
    this.#all = moves.reduce(applyConversation, this.#all);
    if (isDue) for (const listener of this.#settled) listener(sessionId);
  }

  /** A question may stand already; whatever else runs is running. */
  #catchUp(sessionId: string): void {
    const { promptId, status } = this.#parts.prompts.standing(sessionId) ?? {};
    const asks = promptId !== undefined && status === "pending";
    if (asks) this.#follow({ type: "asked", sessionId, promptId });
    // What was answered while no thread was bound was told to nobody here: every text would go to a question that is over.
    else if (["IDLE", "AWAITING_INPUT"].includes(this.stateOf(sessionId))) this.#follow({ type: "started", sessionId });
  }

  /** Not recorded: the same log gives the same state again. */
  #follow(command: ConversationCommand): void {
    const decided = decideConversation(this.#all, command);
    if (decided.ok) this.#all = decided.events.reduce(applyConversation, this.#all);
  }

  #note(event: StoredEvent): void {
    const { sessionId, type, payload } = event;
    if (type === "status" && payload["status"] === "closed") {
      if (this.#isKnown(sessionId)) this.#surely(sessionId, this.unbind(sessionId, SYSTEM));
      return;
    }
    if (!this.isBound(sessionId)) return;
    if (type === "intent" && payload["intent"] === "STOP_NOW" && this.waiting(sessionId) > 0) {
      this.#surely(sessionId, this.drop(sessionId, "the agent was stopped"));
    }
    const command = commandOf(event);
    if (command?.type === "quiet") this.#quiet(sessionId);
    else if (command !== undefined) this.#follow(command);
    if (command?.type === "printed") this.#awaitQuiet(sessionId);
  }

  #isKnown(sessionId: string): boolean {
    return Object.hasOwn(this.#all.sessions, sessionId);
  }

  #surely(sessionId: string, done: Promise<unknown>): void {
    done.catch((error: unknown) => {
      this.#parts.logger.warn("what waits for a session could not be ended", { session: sessionId, error });
    });
  }
}

const UNBOUND = {
  moved: "this thread talks to another session now",
  ended: "the session has ended",
  expired: "this thread was silent for 4 hours",
  left: "this thread left the session",
} as const;

const UNKNOWN =
  "The hub was restarted while a queued message was being sent. Look whether it arrived: it is not sent again.";

function unsent(count: number, why: string): string {
  return `${count === 1 ? "1 queued message was" : `${count} queued messages were`} not sent: ${why}.`;
}

function counted(messages: readonly QueuedMessage[]): readonly (readonly [Thread, number])[] {
  const byThread = Map.groupBy(messages, threadKey);
  return [...byThread.values()].map((it) => [it[0]!, it.length]);
}

function commandOf({ type, payload, sessionId }: StoredEvent): ConversationCommand | undefined {
  switch (type) {
    case "stdout":
      return { type: "printed", sessionId };
    case "quiet":
      return Number(payload["ms"]) >= BATCH_MS ? { type: "quiet", sessionId } : undefined;
    case "prompt_request":
      return { type: "asked", sessionId, promptId: promptIdOf(payload) };
    case "prompt_decision":
      if (payload["outcome"] !== undefined) return undefined;
      // Nothing was typed after all: it stands as before.
      if (payload["status"] === "pending") return { type: "asked", sessionId, promptId: promptIdOf(payload) };
      return { type: "answered", sessionId };
    default:
      return undefined;
  }
}

function promptIdOf(payload: JsonObject): string {
  return (payload as { promptId?: string }).promptId ?? "";
}
