import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  applyConversation,
  type ConversationCommand,
  type ConversationDecision,
  type ConversationEvent,
  conversationOf,
  type Conversations,
  decideConversation,
  NO_CONVERSATIONS,
  QUEUE_MAX,
  resolveThread,
  TTL_MS,
} from "./conversation.ts";

const ann = { channel: "telegram", threadId: "7" };
const bob = { channel: "slack", threadId: "7" };

const bind = (thread: typeof ann, sessionId: string, at = 0): ConversationCommand => ({
  type: "bind",
  ...thread,
  sessionId,
  at,
});
const say = (text: string, thread = ann, at = 1): Extract<ConversationCommand, { type: "say" }> => ({
  type: "say",
  ...thread,
  text,
  by: "ann",
  at,
  whileStreaming: "queue",
});
const of = (
  type: "started" | "printed" | "quiet" | "answered" | "stopped" | "delivered" | "drop",
  sessionId = "s1",
): ConversationCommand => ({
  type,
  sessionId,
});
const asked: ConversationCommand = { type: "asked", sessionId: "s1", promptId: "s1.9" };

function run(...commands: readonly ConversationCommand[]): {
  readonly all: Conversations;
  readonly last: ConversationDecision;
  readonly events: ConversationEvent[];
} {
  let all = NO_CONVERSATIONS;
  let last: ConversationDecision = { ok: true, events: [] };
  const events: ConversationEvent[] = [];
  for (const command of commands) {
    last = decideConversation(all, command);
    if (!last.ok) continue;
    events.push(...last.events);
    all = last.events.reduce(applyConversation, all);
  }
  return { all, last, events };
}

const typed = (events: readonly ConversationEvent[]): string[] =>
  events.flatMap((it) => (it.type === "conversation.chatted" ? [it.text] : []));
const streaming = [bind(ann, "s1"), of("started"), of("printed")] as const;

describe("bindings", () => {
  test("[CNV-1, CNV-2] a thread finds its own session by channel and thread together", () => {
    const { all } = run(bind(ann, "s1"), bind(bob, "s2"));
    expect(resolveThread(all, ann, 1)).toBe("s1");
    expect(resolveThread(all, bob, 1)).toBe("s2");
    expect(resolveThread(all, { channel: "slack", threadId: "8" }, 1)).toBeUndefined();
  });

  test("[CNV-1] binding again moves the thread, and a session may have several", () => {
    const { all } = run(bind(ann, "s1"), bind(bob, "s2"), bind(ann, "s2", 5));
    expect(all.bindings.map(({ channel, sessionId }) => [channel, sessionId])).toEqual([
      ["slack", "s2"],
      ["telegram", "s2"],
    ]);
  });

  test("[CNV-3] a binding is over four hours after its last message, pruned or not", () => {
    const { all } = run(bind(ann, "s1"), of("started"), say("hello", ann, 1_000));
    expect(resolveThread(all, ann, 1_000 + TTL_MS - 1)).toBe("s1");
    expect(resolveThread(all, ann, 1_000 + TTL_MS)).toBeUndefined();
  });

  test("[CNV-4] the end of a session unbinds its threads, pruning what has expired", () => {
    const bound = [bind(ann, "s1"), bind(bob, "s2", 10)] as const;
    expect(run(...bound, { type: "unbind", sessionId: "s1" }).all.bindings).toMatchObject([{ sessionId: "s2" }]);
    const pruned = run(...bound, { type: "prune", at: TTL_MS });
    expect(pruned.all.bindings).toMatchObject([{ sessionId: "s2" }]);
    expect(pruned.last).toEqual({
      ok: true,
      events: [{ type: "conversation.unbound", ...ann, reason: "expired", dropped: 0 }],
    });
  });

  test.each([
    { title: "never bound", commands: [bind(bob, "s1")], at: 1 },
    { title: "expired", commands: [bind(ann, "s1")], at: TTL_MS },
    { title: "unbound", commands: [bind(ann, "s1"), { type: "unbind", sessionId: "s1" } as const], at: 1 },
  ])("[CNV-5] a message in a thread that is $title goes nowhere and says so", ({ commands, at }) => {
    expect(run(...commands, asked, say("yes", ann, at)).last).toEqual({
      ok: false,
      refusal: "unbound",
      notice: "This thread is not bound to a session. Nothing was sent. Choose one: /sessions, then /use 1",
    });
  });

  test("[CNV-14, CNV-15] a thread that is bound elsewhere takes nothing that waits along", () => {
    const { all, events } = run(...streaming, bind(bob, "s1"), say("for s1"), say("bob's", bob), bind(ann, "s2"));
    expect(events).toContainEqual({ type: "conversation.unbound", ...ann, reason: "moved", dropped: 1 });
    expect(conversationOf(all, "s1").queue.map(({ text }) => text)).toEqual(["bob's"]);
    expect(conversationOf(all, "s2").queue).toEqual([]);
  });
});

test("[CNV-11] a thread that is bound anew answers the question that stands", () => {
  const again = run(
    ...streaming,
    asked,
    { type: "prune", at: TTL_MS },
    bind(ann, "s1", TTL_MS),
    say("yes", ann, TTL_MS),
  );
  expect(again.last).toMatchObject({ events: [{}, { type: "conversation.replied", promptId: "s1.9" }] });
});

test("[CNV-4] nothing is left of a session that has ended", () => {
  expect(run(...streaming, say("x"), { type: "unbind", sessionId: "s1" }).all).toEqual(NO_CONVERSATIONS);
});

describe("states", () => {
  test("[CNV-6] go through streaming, quiet, a question and its answer to the end", () => {
    const states = [
      of("started"),
      of("printed"),
      of("quiet"),
      of("quiet"),
      asked,
      of("answered"),
      of("stopped"),
      of("printed"),
      of("started"),
    ];
    const seen = states.map(
      (_, index) => conversationOf(run(bind(ann, "s1"), ...states.slice(0, index + 1)).all, "s1").state,
    );
    expect(seen).toEqual([
      "RUNNING",
      "STREAMING",
      "STREAMING",
      "RUNNING",
      "AWAITING_INPUT",
      "RUNNING",
      "STOPPED",
      "STOPPED",
      "STOPPED",
    ]);
  });

  test("[CNV-6] output between two quiet cycles begins the count anew", () => {
    const { all } = run(...streaming, of("quiet"), of("printed"), of("quiet"));
    expect(conversationOf(all, "s1")).toMatchObject({ state: "STREAMING", idleCycles: 1 });
  });

  test("[CNV-13] output while a question stands does not end it", () => {
    expect(conversationOf(run(...streaming, asked, of("printed"), of("quiet"), of("quiet")).all, "s1")).toMatchObject({
      state: "AWAITING_INPUT",
      promptId: "s1.9",
    });
  });

  test.each([
    { title: "IDLE", commands: [bind(ann, "s1")], event: "conversation.chatted" },
    { title: "RUNNING", commands: [bind(ann, "s1"), of("started")], event: "conversation.chatted" },
    { title: "STREAMING", commands: [...streaming], event: "conversation.queued" },
    { title: "AWAITING_INPUT", commands: [...streaming, asked], event: "conversation.replied" },
  ])("[CNV-7] in $title a message becomes $event", ({ commands, event }) => {
    const { last } = run(...commands, say("hello"));
    expect(last).toMatchObject({
      ok: true,
      events: [{ type: "conversation.touched" }, { type: event, text: "hello" }],
    });
  });

  test("[CNV-7] in STOPPED it goes nowhere", () => {
    expect(run(...streaming, of("stopped"), say("hello")).last).toMatchObject({ ok: false, refusal: "stopped" });
  });
});

describe("the queue", () => {
  test("[CNV-8] is told, delivered after two quiet cycles, in order and once", () => {
    const said = run(...streaming, say("one"));
    expect(said.last).toMatchObject({ notice: "Queued for next turn." });

    const quiet = [of("quiet"), of("quiet")];
    expect(typed(run(...streaming, say("one"), say("two"), of("quiet")).events)).toEqual([]);
    expect(typed(run(...streaming, say("one"), say("two"), ...quiet).events)).toEqual(["one"]);
    expect(
      typed(
        run(...streaming, say("one"), say("two"), ...quiet, of("delivered"), of("printed"), ...quiet, ...quiet).events,
      ),
    ).toEqual(["one", "two"]);
  });

  test("[CNV-9] is bounded and says so", () => {
    const many = Array.from({ length: QUEUE_MAX }, (_, index) => say(`${index}`));
    expect(run(...streaming, ...many, say("too many")).last).toEqual({
      ok: false,
      refusal: "queue_full",
      notice: `${QUEUE_MAX} messages already wait. This one was not queued.`,
    });
  });

  test("[CNV-10] is not overtaken once the program has settled", () => {
    const { events } = run(
      ...streaming,
      say("one"),
      say("two"),
      of("quiet"),
      of("quiet"),
      say("three"),
      of("delivered"),
      of("quiet"),
      of("quiet"),
      of("delivered"),
      of("quiet"),
      of("quiet"),
    );
    expect(typed(events)).toEqual(["one", "two", "three"]);
  });

  test("[CNV-22] nothing follows a message before it is known to be typed", () => {
    const taken = [...streaming, say("one"), of("quiet"), of("quiet")] as const;
    expect(typed(run(...taken, say("two"), of("quiet"), of("quiet"), of("quiet")).events)).toEqual(["one"]);
    expect(typed(run(...taken, say("two"), of("delivered"), of("quiet"), of("quiet")).events)).toEqual(["one", "two"]);
  });

  test("[CNV-24] after Modify the next message is chat: it waits while a question stands, and only the next one", () => {
    const modified = [...streaming, asked, { type: "expect_chat", ...ann } as const];
    expect(run(...modified, say("shorter, please")).last).toMatchObject({
      notice: "Queued for next turn.",
      events: [{ type: "conversation.touched" }, { type: "conversation.queued", text: "shorter, please" }],
    });
    expect(run(...modified, say("shorter, please"), say("yes")).last).toMatchObject({
      events: [{}, { type: "conversation.replied", text: "yes" }],
    });
    expect(run(...modified, { ...say("hunter2"), isSecret: true }).last).toMatchObject({
      events: [{}, { type: "conversation.replied" }],
    });
    expect(run(...modified, { ...say("shorter, please"), takesText: true }).last).toMatchObject({
      events: [{}, { type: "conversation.chatted", text: "shorter, please" }],
    });
    const settling = [of("quiet"), of("quiet")];
    const queued = run(...modified, say("shorter, please"), ...settling);
    expect([typed(queued.events), conversationOf(queued.all, "s1").state]).toEqual([
      ["shorter, please"],
      "AWAITING_INPUT",
    ]);
    expect(run(...modified, say("yes", bob)).last).toMatchObject({ ok: false, refusal: "unbound" });
  });

  test("[CNV-23] what waits can be dropped, and a thread can leave", () => {
    const { all, events } = run(...streaming, say("one"), of("drop"));
    expect(events.at(-1)).toEqual({ type: "conversation.dropped", sessionId: "s1", count: 1 });
    expect(conversationOf(all, "s1").queue).toEqual([]);
    const left = run(...streaming, say("one"), { type: "leave", ...ann });
    expect(left.events.at(-1)).toEqual({ type: "conversation.unbound", ...ann, reason: "left", dropped: 1 });
    expect(left.all.bindings).toEqual([]);
  });

  test("[CNV-11] never goes into a question", () => {
    const { all, events } = run(...streaming, say("one"), asked, of("quiet"), of("quiet"), of("quiet"));
    expect(typed(events)).toEqual([]);
    expect(conversationOf(all, "s1").queue).toHaveLength(1);
    expect(
      typed(run(...streaming, say("one"), asked, of("quiet"), of("answered"), of("quiet"), of("quiet")).events),
    ).toEqual(["one"]);
  });

  test("[CNV-12] by choice refuses instead", () => {
    expect(run(...streaming, { ...say("one"), whileStreaming: "reject" }).last).toEqual({
      ok: false,
      refusal: "streaming",
      notice: "The program is still printing. Nothing was sent.",
    });
  });

  test("[CNV-12] what waits for something else than the end of the output is queued whatever was chosen", () => {
    const modify: ConversationCommand = { type: "expect_chat", ...ann };
    const { last } = run(bind(ann, "s1"), asked, modify, { ...say("one"), whileStreaming: "reject" });
    expect(last).toMatchObject({ ok: true, notice: "Queued for next turn." });
  });

  test("[CNV-15] what can't be delivered any more is counted", () => {
    expect(run(...streaming, say("one"), say("two"), of("stopped")).events.at(-1)).toEqual({
      type: "conversation.dropped",
      sessionId: "s1",
      count: 2,
    });
  });
});

test("[CNV-2, CNV-8, CNV-11, CNV-16] over any commands messages reach only their own session, in order, never a question", () => {
  const session = fc.constantFrom("s1", "s2");
  const thread = fc.constantFrom(ann, bob);
  const command = fc.oneof(
    fc.tuple(thread, session).map(([it, id]) => bind(it, id)),
    thread.map((it) => say("x", it)),
    fc
      .tuple(fc.constantFrom("started", "printed", "quiet", "answered", "delivered", "drop"), session)
      .map(([type, id]) => of(type as "quiet", id)),
    session.map((sessionId): ConversationCommand => ({ type: "asked", sessionId, promptId: "p" })),
  );
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
      let all = NO_CONVERSATIONS;
      const log: ConversationEvent[] = [];
      for (const it of commands) {
        const decision = decideConversation(all, it);
        if (!decision.ok) continue;
        for (const event of decision.events) {
          if (event.type === "conversation.chatted") {
            expect(conversationOf(all, event.sessionId).state).not.toBe("AWAITING_INPUT");
            expect(resolveThread(all, event, 1)).toBe(event.sessionId);
          }
          all = applyConversation(all, event);
          log.push(event);
        }
      }
      expect(log.reduce(applyConversation, NO_CONVERSATIONS)).toEqual(all);
    }),
  );
});
