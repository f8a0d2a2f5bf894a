/** Events as cards, over the hub's own desks. */
import { expect, onTestFinished, test } from "vitest";
import { HUB_STREAM } from "../../src/domain/event.ts";
import { eventually } from "../support/eventually.ts";
import { ASKED, offerOf, PLAN } from "./asked.ts";
import { ANN, BOT, chattingHub, type ChattingHub, HOME, openChattingHub, THREAD } from "./chatting-hub.ts";
import type { Message } from "./log-stage.ts";

const OTHER = { channel: "web", threadId: "2" } as const;
const outcome = ({ card }: Message): string | undefined => card.facts?.find(({ name }) => name === "Outcome")?.value;
const labels = ({ card }: Message): string[] => card.buttons.flat().map(({ label }) => label);
const shown = (messages: readonly Message[]) => messages.map((it) => [it.card.kind, outcome(it), it.edits]);

/** Without the begin of sessions, which homes are told. */
const toDecide = async (hub: ChattingHub) =>
  (await hub.messages(HOME)).filter(({ card }) => !card.text.includes("session has started"));

/** What is shown in a thread once there is so much of it. */
async function shownIn(hub: ChattingHub, count: number, place = THREAD as { readonly threadId: string }) {
  const found = await eventually(async () => {
    const messages = place === HOME ? await toDecide(hub) : await hub.messages(place);
    expect(messages).toHaveLength(count);
    return messages;
  });
  await hub.drained();
  return found;
}

test("[CHN-17] what is to be decided goes to the bound threads; to a channel's home only where none is bound", async () => {
  const hub = await chattingHub({ homes: () => [HOME] });
  const bound = await hub.terminal();
  await hub.bind(OTHER, bound);
  const free = await hub.terminal(null, "other");
  await hub.note(bound, "plan", PLAN);
  await hub.note(free, "plan", { ...PLAN, planId: "plan-2" });

  await hub.drained();
  const titles = await Promise.all(
    [hub.messages(THREAD), hub.messages(OTHER), toDecide(hub)].map(async (it) =>
      (await it).map(({ card }) => card.title),
    ),
  );
  expect(titles).toEqual([["build"], ["build"], ["other"]]);
});

test("[CHN-17] notices of a session go to who listens, and nobody else; channels that aren't there get nothing", async () => {
  const hub = await chattingHub({ homes: () => [HOME] });
  const [bound, free] = [await hub.terminal(), await hub.terminal(null)];
  await hub.threads.bind({ channel: "elsewhere", threadId: "9" }, bound, ANN);
  await hub.note(bound, "chat", { kind: "notice", text: "Plan accepted." });
  await hub.note(free, "chat", { kind: "notice", text: "Plan accepted." });

  expect((await shownIn(hub, 1)).map(({ card }) => card.text)).toEqual(["Plan accepted."]);
  expect(await toDecide(hub)).toEqual([]);
  expect((await hub.store.outbox.rows()).filter(({ channel }) => channel === "elsewhere")).toEqual([]);
});

test("[CHN-18, CHN-6] an answered question is edited once, with who answered, and let go with its outcome", async () => {
  const hub = await chattingHub({ nameOf: (id) => (id === "ann" ? "Ann" : id) });
  const sessionId = await hub.terminal();
  await hub.note(sessionId, "prompt_request", offerOf(ASKED));
  const [before] = await shownIn(hub, 1);
  await hub.note(sessionId, "prompt_decision", { promptId: "p1", status: "answered", by: "ann" });
  await hub.drained();
  const kept = (await hub.store.outbox.rows()).length;
  await hub.note(sessionId, "chat", { kind: "feedback", promptId: "p1", text: "Sent: y + Enter" });
  await hub.note(sessionId, "prompt_decision", { promptId: "p1", outcome: "advanced" });

  const messages = await shownIn(hub, 2);
  expect(labels(before!)).toEqual(["Yes", "No"]);
  expect(shown(messages)).toEqual([
    ["prompt", "Answered by Ann", 1],
    ["notice", undefined, 0],
  ]);
  expect([kept, await hub.store.outbox.rows()]).toEqual([1, []]);
});

test("[CHN-18] a question that is gone says so; free text and secrets, which have no buttons, are edited too", async () => {
  const hub = await chattingHub();
  const sessionId = await hub.terminal();
  const text = { ...ASKED, class: "FREE_TEXT", shownAs: "FREE_TEXT", choices: [] } as const;
  await hub.note(sessionId, "prompt_request", offerOf(text));
  await shownIn(hub, 1);
  await hub.note(sessionId, "prompt_decision", { promptId: "p1", status: "gone" });

  await eventually(async () => expect(shown(await hub.messages())).toEqual([["prompt", "No longer asked", 1]]));
});

test("[CHN-19] an offer that is renewed changes its card in place: the same button means the new offer", async () => {
  const hub = await chattingHub({ secretLink: ({ nonce }) => `http://hub/secret/${nonce}` });
  const sessionId = await hub.terminal();
  const secret = { ...ASKED, promptId: "p2", class: "PASSWORD_INPUT", shownAs: "PASSWORD_INPUT" } as const;
  for (const it of [ASKED, secret]) await hub.note(sessionId, "prompt_request", offerOf(it));
  const [before] = await shownIn(hub, 2);
  const action = before?.card.buttons[0]?.[0]?.action ?? "";
  for (const it of [ASKED, secret]) await hub.note(sessionId, "prompt_request", offerOf({ ...it, nonce: "n2" }));
  await hub.drained();

  const links = hub.channel.calls.map(({ verb, card }) => [verb, card.link?.url]);
  expect(links).toEqual([
    ["send", undefined],
    ["send", "http://hub/secret/n1"],
    ["edit", "http://hub/secret/n2"],
  ]);
  expect(hub.outbox.pressed(THREAD, action)).toEqual({ do: "reply", promptId: "p1", nonce: "n2", choice: "yes" });
  expect(await hub.messages()).toHaveLength(2);
});

test("[CHN-117] a button that was shown for one agent's request grants nothing to another agent", async () => {
  const hub = await chattingHub();
  const sessionId = await hub.terminal();
  await hub.control.change(sessionId, { type: "take", by: ANN });
  await hub.control.change(sessionId, { type: "request", by: BOT, reason: "to deploy" });
  const [first] = await shownIn(hub, 1);
  const grant = first?.card.buttons[0]?.[0]?.action ?? "";
  await hub.control.change(sessionId, { type: "request", by: { kind: "agent", id: "evil" }, reason: "me too" });
  const [before, after] = await shownIn(hub, 2);

  expect(hub.outbox.pressed(THREAD, grant)).toBeUndefined();
  expect([before, after].map((it) => it && [it.card.text, outcome(it)])).toEqual([
    ["bot asks for control", "No longer asked"],
    ["evil asks for control", undefined],
  ]);
});

test("[CHN-18, CHN-4] an approval is shown and decided wherever it is shown; without a session in the homes", async () => {
  const hub = await chattingHub({ homes: () => [HOME] });
  const sessionId = await hub.terminal();
  const ask = { kind: "tool", payload: { what: "deploy" }, action: "deploy" } as const;
  const one = await hub.approvals.request({ ...ask, sessionId }, BOT);
  const two = await hub.approvals.request(ask, BOT);
  await shownIn(hub, 1);
  await shownIn(hub, 1, HOME);
  await hub.approvals.resolve(one.requestId, { status: "approved" }, ANN);
  await hub.approvals.resolve(two.requestId, { status: "rejected", reason: "not today" }, ANN);

  await eventually(async () => expect(shown(await hub.messages())).toEqual([["approval", "Approved by ann", 1]]));
  await eventually(async () =>
    expect(shown(await toDecide(hub))).toEqual([["approval", "Denied by ann: not today", 1]]),
  );
  expect(two.sessionId).toBe(HUB_STREAM);
});

test("[CHN-18, CHN-5] plans and requests for control are shown and decided; the end of the session ends them", async () => {
  const hub = await chattingHub();
  const sessionId = await hub.terminal();
  await hub.note(sessionId, "plan", PLAN);
  await hub.note(sessionId, "plan", { ...PLAN, planId: "plan-2" });
  await hub.control.change(sessionId, { type: "request", by: BOT, reason: "to deploy" });
  const asked = await shownIn(hub, 3);
  await hub.note(sessionId, "plan", { planId: PLAN.planId, decision: "execute", by: "ann" });
  await hub.control.change(sessionId, { type: "decline", by: ANN });
  await eventually(async () =>
    expect((await hub.messages()).map(outcome)).toEqual(["Accepted by ann", undefined, "Declined by ann"]),
  );
  await hub.sessions.close(sessionId, ANN);

  expect(labels(asked[2]!)).toEqual(["Grant 15 min", "Decline"]);
  const after = await shownIn(hub, 4);
  expect(after.map(outcome).slice(1, 3)).toEqual(["The session has ended", "Declined by ann"]);
  expect(after.at(-1)?.card.text).toMatch(/^The session has ended/);
  expect(await hub.store.outbox.rows()).toEqual([]);
});

test("[PMT-89] a plan that could not be cancelled is asked again on the same card", async () => {
  const hub = await chattingHub();
  const sessionId = await hub.terminal();
  await hub.note(sessionId, "plan", PLAN);
  const [asked] = await shownIn(hub, 1);
  await hub.note(sessionId, "plan", { planId: PLAN.planId, decision: "cancel", by: "ann" });
  await eventually(async () => expect((await hub.messages()).map(outcome)).toEqual(["Cancelled by ann"]));
  await hub.note(sessionId, "plan", PLAN);

  await eventually(async () => expect((await hub.messages()).map(outcome)).toEqual([undefined]));
  const [again] = await shownIn(hub, 1);
  expect(again?.card).toEqual(asked?.card);
});

test("[CHN-18] a granted request says by whom", async () => {
  const hub = await chattingHub();
  const sessionId = await hub.terminal();
  await hub.control.change(sessionId, { type: "request", by: BOT, reason: "to deploy" });
  await shownIn(hub, 1);
  await hub.control.grant(sessionId, { agentId: "bot", leaseSeconds: 60, attend: true }, ANN);

  await eventually(async () => expect((await hub.messages()).map(outcome)).toEqual(["Granted by ann"]));
});

test("[CHN-31] the start of a session is told in the homes, its end where it was told or listened to", async () => {
  const hub = await chattingHub({ homes: () => [HOME] });
  const free = await hub.terminal(null, "free");
  const bound = await hub.terminal(THREAD, "bound");
  await hub.sessions.pause(free, ANN);
  await hub.sessions.resume(free, ANN);
  for (const sessionId of [free, bound]) await hub.sessions.close(sessionId, ANN);

  const told = async (place: { readonly threadId: string }, count: number) =>
    eventually(async () => {
      const messages = await hub.messages(place);
      expect(messages).toHaveLength(count);
      return messages.map(({ card }) => [card.title, card.text]);
    });
  const over = expect.stringMatching(/^The session has ended/) as string;
  expect(await told(HOME, 3)).toEqual([
    ["free", `A terminal session has started. Talk to it: /use ${free.slice(0, 8)}`],
    ["bound", `A terminal session has started. Talk to it: /use ${bound.slice(0, 8)}`],
    ["free", over],
  ]);
  expect(await told(THREAD, 1)).toEqual([["bound", over]]);
});

test("[CHN-32, CNV-23] what is told to one thread goes there alone, also if it listens no more", async () => {
  const hub = await chattingHub();
  const sessionId = await hub.terminal();
  await hub.bind(OTHER, sessionId);
  await hub.threads.leave(OTHER, ANN);
  await hub.threads.tell(OTHER, sessionId, "1 queued message was not sent: this thread left the session.");
  await hub.threads.tell({ channel: "elsewhere", threadId: "9" }, sessionId, "for nobody");

  expect((await shownIn(hub, 1, OTHER)).map(({ card }) => card.text)).toEqual([
    "1 queued message was not sent: this thread left the session.",
  ]);
  expect(await hub.messages(THREAD)).toEqual([]);
});

test("[CHN-20] a thread that listens from now on is shown what is still to be decided, once", async () => {
  const hub = await chattingHub({ homes: () => [HOME] });
  const sessionId = await hub.terminal(null);
  const { requestId } = await hub.approvals.request({ sessionId, kind: "tool", payload: {} }, BOT);
  await shownIn(hub, 1, HOME);
  await hub.bind(THREAD, sessionId);
  await hub.bind(THREAD, sessionId);
  await shownIn(hub, 1);
  await hub.announcer.catchUp(OTHER);
  await hub.approvals.resolve(requestId, { status: "approved" }, ANN);

  for (const messages of [() => hub.messages(THREAD), () => toDecide(hub)]) {
    await eventually(async () => expect((await messages()).map(outcome)).toEqual(["Approved by ann"]));
  }
  expect(await hub.messages(OTHER)).toEqual([]);
});

test("[CHN-20] a home that is named later is shown what is still to be decided", async () => {
  const homes: (typeof HOME)[] = [];
  const hub = await chattingHub({ homes: () => homes });
  const { sessionId } = await hub.approvals.request({ kind: "tool", payload: {} }, BOT);
  homes.push(HOME);
  await hub.announcer.catchUp(HOME);
  await hub.announcer.catchUp(HOME);

  expect((await shownIn(hub, 1, HOME)).map(({ card }) => card.kind)).toEqual(["approval"]);
  expect(sessionId).toBe(HUB_STREAM);
});

test("[CHN-20] nothing of before the first start is told; what happened while the hub was down is", async () => {
  const first = await chattingHub();
  const sessionId = await first.terminal();
  await first.note(sessionId, "plan", PLAN);
  await first.note(sessionId, "chat", { kind: "notice", text: "once" });
  await shownIn(first, 2);
  await first.announcer.stop();
  await first.journal.note(sessionId, "process", [{ type: "plan", payload: { ...PLAN, planId: "late" }, source: ANN }]);
  await first.close();

  const second = await openChattingHub(first.dataDir);
  onTestFinished(second.close);
  const messages = await shownIn(second, 3);
  expect(messages.map(({ card, edits, tellings }) => [card.kind, edits, tellings])).toEqual([
    ["plan", 0, 1],
    ["notice", 0, 1],
    ["plan", 0, 1],
  ]);
});
