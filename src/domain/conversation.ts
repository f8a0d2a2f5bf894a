/**
 * Chat threads and the sessions that they talk to. A thread reaches exactly the session it is bound to; what is said
 * while output streams waits and is delivered in order, one message for each time that the program has settled, and
 * never into a question. Rules CNV-1..CNV-26 in docs/spec/conversations.md.
 */
export type ConversationState = "IDLE" | "RUNNING" | "STREAMING" | "AWAITING_INPUT" | "STOPPED";

export type Thread = { readonly channel: string; readonly threadId: string };

export type Binding = Thread & {
  readonly sessionId: string;
  readonly touchedAt: number;
  /** Who bound it. */
  readonly by?: string | undefined;
  /** What is said next is chat, also while a question stands: it waits. */
  readonly chatNext?: boolean | undefined;
};

export type QueuedMessage = Thread & {
  readonly text: string;
  /** The person whose input it will be. */
  readonly by: string;
  /** Said as chat, whatever is asked. */
  readonly asChat?: boolean | undefined;
};

export type Conversation = {
  readonly state: ConversationState;
  /** The question that stands, in AWAITING_INPUT. */
  readonly promptId?: string | undefined;
  readonly queue: readonly QueuedMessage[];
  /** Quiet cycles of the forwarder in a row. */
  readonly idleCycles: number;
  /** A message has left the queue, and nobody knows yet that it was typed. */
  readonly delivering?: boolean | undefined;
};

export type Conversations = {
  readonly bindings: readonly Binding[];
  readonly sessions: Readonly<Record<string, Conversation>>;
};

export const NO_CONVERSATIONS: Conversations = { bindings: [], sessions: {} };
export const TTL_MS = 4 * 60 * 60 * 1_000;
export const QUEUE_MAX = 20;
const SETTLED_CYCLES = 2;
const NEW: Conversation = { state: "IDLE", queue: [], idleCycles: 0 };

export type ConversationCommand =
  | ({ readonly type: "bind"; readonly sessionId: string; readonly at: number; readonly by?: string } & Thread)
  | { readonly type: "unbind"; readonly sessionId: string }
  | { readonly type: "prune"; readonly at: number }
  | ({ readonly type: "leave" | "expect_chat" } & Thread)
  | ({
      readonly type: "say";
      readonly text: string;
      readonly by: string;
      readonly at: number;
      readonly whileStreaming: "queue" | "reject";
      /** A secret is asked for: whatever is said is the answer to that. */
      readonly isSecret?: boolean | undefined;
      /** The program waits with an editor of its own, where any text may be written: what looks like a question may be none. */
      readonly takesText?: boolean | undefined;
    } & Thread)
  | {
      readonly type: "started" | "printed" | "quiet" | "answered" | "stopped" | "delivered";
      readonly sessionId: string;
    }
  /** `by`: only what this person said. */
  | { readonly type: "drop"; readonly sessionId: string; readonly by?: string | undefined }
  | { readonly type: "asked"; readonly sessionId: string; readonly promptId: string };

export type Unbinding = "moved" | "ended" | "expired" | "left";

export type ConversationEvent =
  | ({
      readonly type: "conversation.bound";
      readonly sessionId: string;
      readonly at: number;
      readonly by?: string;
    } & Thread)
  | ({ readonly type: "conversation.unbound"; readonly reason: Unbinding; readonly dropped: number } & Thread)
  | ({ readonly type: "conversation.touched"; readonly at: number } & Thread)
  | {
      readonly type: "conversation.moved";
      readonly sessionId: string;
      readonly state: ConversationState;
      readonly promptId?: string;
    }
  | { readonly type: "conversation.settling"; readonly sessionId: string; readonly cycles: number }
  | ({ readonly type: "conversation.expecting" } & Thread)
  | ({ readonly type: "conversation.queued"; readonly sessionId: string } & QueuedMessage)
  /** Goes to the terminal as chat input. */
  | ({
      readonly type: "conversation.chatted";
      readonly sessionId: string;
      readonly fromQueue: boolean;
    } & QueuedMessage)
  /** What left the queue is typed, or known not to be. */
  | { readonly type: "conversation.delivered"; readonly sessionId: string }
  /** Goes to the question. */
  | ({
      readonly type: "conversation.replied";
      readonly sessionId: string;
      readonly promptId: string;
      readonly text: string;
    } & Thread)
  | {
      readonly type: "conversation.dropped";
      readonly sessionId: string;
      readonly count: number;
      readonly by?: string;
    }
  /** Nothing is known of the session any more. */
  | { readonly type: "conversation.ended"; readonly sessionId: string };

export type ConversationDecision =
  | { readonly ok: true; readonly events: readonly ConversationEvent[]; readonly notice?: string }
  | {
      readonly ok: false;
      readonly refusal: "unbound" | "stopped" | "streaming" | "queue_full";
      readonly notice: string;
    };

/** The session of a thread, while the binding lives. */
export function resolveThread({ bindings }: Conversations, thread: Thread, at: number): string | undefined {
  const binding = bindings.find((it) => isThread(it, thread));
  return binding === undefined || !isLive(binding, at) ? undefined : binding.sessionId;
}

export function isLive({ touchedAt }: Binding, at: number): boolean {
  return at - touchedAt < TTL_MS;
}

export function bindingsOf({ bindings }: Conversations, sessionId: string): readonly Binding[] {
  return bySession(bindings).get(sessionId) ?? [];
}

export function isThread(a: Thread, b: Thread): boolean {
  return a.channel === b.channel && a.threadId === b.threadId;
}

/** For maps: a name that no other thread has. */
export function threadKey({ channel, threadId }: Thread): string {
  return JSON.stringify([channel, threadId]);
}

export function conversationOf({ sessions }: Conversations, sessionId: string): Conversation {
  return sessions[sessionId] ?? NEW;
}

export function decideConversation(all: Conversations, command: ConversationCommand): ConversationDecision {
  switch (command.type) {
    case "bind":
      return decideBind(all, command);
    case "unbind":
      return accept([
        ...gone(all, (it) => it.sessionId === command.sessionId, "ended"),
        { type: "conversation.ended", sessionId: command.sessionId },
      ]);
    case "prune":
      return accept(gone(all, (it) => !isLive(it, command.at), "expired"));
    case "leave":
      return accept(gone(all, (it) => isThread(it, command), "left"));
    case "expect_chat": {
      const { channel, threadId } = command;
      return accept(
        all.bindings.some((it) => isThread(it, command)) ? [{ type: "conversation.expecting", channel, threadId }] : [],
      );
    }
    case "say":
      return decideSay(all, command);
    case "delivered":
      return accept(
        isDelivering(all, command.sessionId) ? [{ type: "conversation.delivered", sessionId: command.sessionId }] : [],
      );
    case "drop":
      return accept(dropped(all, command.sessionId, command.by));
    case "asked":
      return moved(all, command.sessionId, { state: "AWAITING_INPUT", promptId: command.promptId });
    case "started":
    case "answered":
      return moved(all, command.sessionId, { state: "RUNNING" });
    case "printed":
      return decidePrinted(all, command.sessionId);
    case "quiet":
      return decideQuiet(all, command.sessionId);
    case "stopped":
      return accept([...move(all, command.sessionId, { state: "STOPPED" }), ...dropped(all, command.sessionId)]);
  }
}

function decideBind(
  all: Conversations,
  { channel, threadId, sessionId, at, by }: Extract<ConversationCommand, { type: "bind" }>,
): ConversationDecision {
  // What was said to another session must not reach this one.
  const stale = gone(all, (it) => isThread(it, { channel, threadId }) && it.sessionId !== sessionId, "moved");
  const bound = {
    type: "conversation.bound",
    channel,
    threadId,
    sessionId,
    at,
    ...(by !== undefined && { by }),
  } as const;
  return accept([...stale, bound]);
}

function decideSay(all: Conversations, command: Extract<ConversationCommand, { type: "say" }>): ConversationDecision {
  const { channel, threadId, text, by, at, whileStreaming, isSecret = false, takesText = false } = command;
  const thread = { channel, threadId };
  const sessionId = resolveThread(all, thread, at);
  if (sessionId === undefined)
    return refuse(
      "unbound",
      "This thread is not bound to a session. Nothing was sent. Choose one: /sessions, then /use 1",
    );
  const { state, promptId, queue } = conversationOf(all, sessionId);
  const touched = { type: "conversation.touched", ...thread, at } as const;
  if (state === "STOPPED") return refuse("stopped", "The session has ended. Nothing was sent.");
  const asks = state === "AWAITING_INPUT" && promptId !== undefined;
  const chatNext = !isSecret && all.bindings.some((it) => isThread(it, thread) && it.chatNext === true);
  if (asks && !chatNext)
    return accept([touched, { type: "conversation.replied", ...thread, sessionId, promptId, text }]);
  // Whatever else it were, it would be stored.
  if (isSecret) return refuse("streaming", "A secret is being asked for. Nothing was sent: send it again.");
  // Behind what already waits, also when the program has just settled.
  const isFree = asks ? takesText : state !== "STREAMING";
  if (isFree && queue.length === 0 && !isDelivering(all, sessionId))
    return accept([touched, { type: "conversation.chatted", ...thread, sessionId, text, by, fromQueue: false }]);
  if (state === "STREAMING" && whileStreaming === "reject")
    return refuse("streaming", "The program is still printing. Nothing was sent.");
  if (queue.length >= QUEUE_MAX)
    return refuse("queue_full", `${QUEUE_MAX} messages already wait. This one was not queued.`);
  const message = { ...thread, text, by, ...(chatNext && { asChat: true }) };
  return accept([touched, { type: "conversation.queued", sessionId, ...message }], "Queued for next turn.");
}

/** Output ends no question: what a program prints above its prompt is not an answer to it. */
function decidePrinted(all: Conversations, sessionId: string): ConversationDecision {
  const { state, idleCycles } = conversationOf(all, sessionId);
  if (state === "STOPPED" || state === "AWAITING_INPUT") return accept([]);
  if (state !== "STREAMING") return moved(all, sessionId, { state: "STREAMING" });
  return accept(idleCycles === 0 ? [] : [{ type: "conversation.settling", sessionId, cycles: 0 }]);
}

function decideQuiet(all: Conversations, sessionId: string): ConversationDecision {
  const { state, queue, idleCycles, delivering } = conversationOf(all, sessionId);
  if (delivering === true) return accept([]);
  const [first] = queue;
  const asks = state === "AWAITING_INPUT";
  const waiting =
    state === "STREAMING" || (state === "RUNNING" && first !== undefined) || (asks && first?.asChat === true);
  if (!waiting) return accept([]);
  const cycles = idleCycles + 1;
  if (cycles < SETTLED_CYCLES) return accept([{ type: "conversation.settling", sessionId, cycles }]);
  const settled: ConversationEvent = asks
    ? { type: "conversation.settling", sessionId, cycles: 0 }
    : { type: "conversation.moved", sessionId, state: "RUNNING" };
  if (first === undefined) return accept([settled]);
  return accept([settled, { type: "conversation.chatted", ...first, sessionId, fromQueue: true }]);
}

function isDelivering(all: Conversations, sessionId: string): boolean {
  return conversationOf(all, sessionId).delivering === true;
}

function moved(
  all: Conversations,
  sessionId: string,
  to: { readonly state: ConversationState; readonly promptId?: string },
): ConversationDecision {
  return accept(move(all, sessionId, to));
}

function move(
  all: Conversations,
  sessionId: string,
  to: { readonly state: ConversationState; readonly promptId?: string },
): ConversationEvent[] {
  const { state, promptId } = conversationOf(all, sessionId);
  if (state === "STOPPED" || (state === to.state && promptId === to.promptId)) return [];
  return [{ type: "conversation.moved", sessionId, ...to }];
}

function gone(all: Conversations, which: (binding: Binding) => boolean, reason: Unbinding): ConversationEvent[] {
  return all.bindings.filter(which).map(({ channel, threadId, sessionId }) => {
    const waiting = conversationOf(all, sessionId).queue.filter((it) => isThread(it, { channel, threadId }));
    return { type: "conversation.unbound", channel, threadId, reason, dropped: waiting.length };
  });
}

function dropped(all: Conversations, sessionId: string, by?: string): ConversationEvent[] {
  const count = conversationOf(all, sessionId).queue.filter((it) => it.by === (by ?? it.by)).length;
  return count === 0 ? [] : [{ type: "conversation.dropped", sessionId, count, ...(by !== undefined && { by }) }];
}

/** Folds one recorded event. Total: replay never throws. */
export function applyConversation(all: Conversations, event: ConversationEvent): Conversations {
  switch (event.type) {
    case "conversation.bound": {
      const { channel, threadId, sessionId, at, by } = event;
      const others = all.bindings.filter((it) => !isThread(it, event));
      return withSession(
        { ...all, bindings: [...others, { channel, threadId, sessionId, touchedAt: at, by }] },
        sessionId,
        {},
      );
    }
    case "conversation.unbound":
      return unbound(all, event);
    case "conversation.touched":
      return {
        ...all,
        bindings: all.bindings.map((it) =>
          isThread(it, event) ? { ...it, touchedAt: Math.max(it.touchedAt, event.at), chatNext: undefined } : it,
        ),
      };
    case "conversation.expecting":
      return { ...all, bindings: all.bindings.map((it) => (isThread(it, event) ? { ...it, chatNext: true } : it)) };
    case "conversation.moved":
      return withSession(all, event.sessionId, { state: event.state, promptId: event.promptId, idleCycles: 0 });
    case "conversation.settling":
      return withSession(all, event.sessionId, { idleCycles: event.cycles });
    case "conversation.queued": {
      const { channel, threadId, text, by, asChat, sessionId } = event;
      return withSession(all, sessionId, {
        queue: [...conversationOf(all, sessionId).queue, { channel, threadId, text, by, ...(asChat && { asChat }) }],
      });
    }
    case "conversation.chatted":
      return event.fromQueue
        ? withSession(all, event.sessionId, {
            queue: conversationOf(all, event.sessionId).queue.slice(1),
            delivering: true,
          })
        : all;
    case "conversation.delivered":
      return withSession(all, event.sessionId, { delivering: undefined, idleCycles: 0 });
    case "conversation.replied":
      return all;
    case "conversation.dropped":
      return withSession(all, event.sessionId, {
        queue: conversationOf(all, event.sessionId).queue.filter((it) => it.by !== (event.by ?? it.by)),
      });
    case "conversation.ended":
      return {
        ...all,
        sessions: Object.fromEntries(Object.entries(all.sessions).filter(([id]) => id !== event.sessionId)),
      };
  }
}

/** The session's state stays: a thread that is bound anew must not write into a question. */
function unbound(all: Conversations, thread: Thread): Conversations {
  const sessions = Object.entries(all.sessions).map(
    ([sessionId, it]) =>
      [sessionId, { ...it, queue: it.queue.filter((message) => !isThread(message, thread)) }] as const,
  );
  return { bindings: all.bindings.filter((it) => !isThread(it, thread)), sessions: Object.fromEntries(sessions) };
}

function withSession(all: Conversations, sessionId: string, change: Partial<Conversation>): Conversations {
  return { ...all, sessions: { ...all.sessions, [sessionId]: { ...conversationOf(all, sessionId), ...change } } };
}

const grouped = new WeakMap<readonly Binding[], ReadonlyMap<string, readonly Binding[]>>();

/** Asked for every byte that any session prints: made once for each list of bindings, which is never changed in place. */
function bySession(bindings: readonly Binding[]): ReadonlyMap<string, readonly Binding[]> {
  const made = grouped.get(bindings) ?? Map.groupBy(bindings, ({ sessionId }) => sessionId);
  grouped.set(bindings, made);
  return made;
}

function accept(events: readonly ConversationEvent[], notice?: string): ConversationDecision {
  return { ok: true, events, ...(notice !== undefined && { notice }) };
}

function refuse(
  refusal: Extract<ConversationDecision, { ok: false }>["refusal"],
  notice: string,
): ConversationDecision {
  return { ok: false, refusal, notice };
}
