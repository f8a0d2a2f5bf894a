/** The queue to chats, over real stores. */
import { expect, onTestFinished, test } from "vitest";
import { decided, noticeCard, outputCard } from "../../src/domain/channels/cards.ts";
import type { ChannelFailed } from "../../src/hub/channel-port.ts";
import { SHOWN_MAX, surplus, WAITING_MAX } from "../../src/hub/chat/outbox-bounds.ts";
import type { NewRow, OutboxStore } from "../../src/hub/chat/outbox-port.ts";
import type { Thread } from "../../src/domain/conversation.ts";
import { eventually } from "../support/eventually.ts";
import { chattingHub, openChattingHub, THREAD } from "./chatting-hub.ts";
import { failing, later, never, type RoughChannel } from "./rough-channel.ts";

const OTHER = { channel: "web", threadId: "2" } as const;
const ACTION = { do: "reply", promptId: "__plan__", nonce: "x", choice: "execute" } as const;

function notice(text: string, place: Thread = THREAD): NewRow {
  return { ...place, ...noticeCard(undefined, text) };
}

function asking(text: string): NewRow {
  const { card } = noticeCard(undefined, text);
  return { ...THREAD, about: text, card: { ...card, buttons: [[{ label: "Go", action: "0" }]] }, actions: [ACTION] };
}

const texts = (channel: RoughChannel): string[] => channel.calls.map(({ verb, card }) => `${verb} ${card.text}`);

/** The platform takes its time with each call until it is let go. */
function held(channel: RoughChannel): { readonly go: () => void } {
  const gate = Promise.withResolvers<ChannelFailed | undefined>();
  channel.trouble = () => gate.promise;
  return { go: () => gate.resolve(undefined) };
}

test("[CHN-12] a thread is served in order, one at a time; a slow thread holds up no other", async () => {
  const { outbox, channel, messages, drained } = await chattingHub();
  let busy = 0;
  const gate = Promise.withResolvers<undefined>();
  channel.trouble = async ({ card }) => {
    if (card.text === "elsewhere") return undefined;
    busy += 1;
    expect(busy).toBe(1);
    await gate.promise;
    busy -= 1;
    return undefined;
  };
  await outbox.change(() => ({ add: [notice("one"), notice("two"), notice("elsewhere", OTHER)] }));
  await outbox.change(() => ({ add: [notice("three")] }));
  await eventually(async () => expect(await messages(OTHER)).toHaveLength(1));
  gate.resolve(undefined);

  await drained();
  expect((await messages()).map(({ card }) => card.text)).toEqual(["one", "two", "three"]);
});

test("[CHN-13] what is refused for now is tried again, as late as the platform says, before what follows it", async () => {
  const { outbox, channel, messages, drained } = await chattingHub();
  channel.trouble = failing(later(), later(300), later());
  const begun = performance.now();
  await outbox.change(() => ({ add: [notice("one"), notice("two")] }));

  await drained();
  expect(texts(channel)).toEqual(["send one", "send one", "send one", "send one", "send two"]);
  expect(performance.now() - begun).toBeGreaterThan(290);
  expect((await messages()).map(({ card }) => card.text)).toEqual(["one", "two"]);
});

test("[CHN-13] what is refused for good is passed over, and logged without its text", async () => {
  const { outbox, channel, messages, drained, logged } = await chattingHub();
  channel.trouble = failing(never());
  await outbox.change(() => ({ add: [notice("hunter2"), notice("two")] }));

  await drained();
  expect((await messages()).map(({ card }) => card.text)).toEqual(["two"]);
  expect(logged()).toContain("could not be shown");
  expect(logged()).not.toContain("hunter2");
});

test("[CHN-13, CHN-10] what waits is shown by the next hub, in order", async () => {
  const first = await chattingHub();
  first.channel.trouble = async () => later(60_000);
  await first.outbox.change(() => ({ add: [notice("one"), notice("two")] }));
  await eventually(() => expect(first.channel.calls).toHaveLength(1));
  await first.close();

  const second = await openChattingHub(first.dataDir);
  onTestFinished(second.close);
  await second.drained();
  expect((await second.messages()).map(({ card }) => card.text)).toEqual(["one", "two"]);
});

test("[CHN-14] what is decided while it waits is shown decided, once; while it is on its way, it is edited", async () => {
  const { outbox, channel, messages, drained } = await chattingHub();
  const gate = held(channel);
  const [sending, waiting] = await outbox.change(() => ({ add: [asking("sending"), asking("waiting")] }));
  await eventually(() => expect(channel.calls).toHaveLength(1));
  const over = (row: typeof sending) => ({ ...row!, ...noticeCard(undefined, `${row!.card.text}, over`) });
  await outbox.change(() => ({ put: [over(sending), over(waiting)] }));
  gate.go();

  await drained();
  expect(texts(channel)).toEqual(["send sending", "edit sending, over", "send waiting, over"]);
  expect((await messages()).map(({ card }) => card.text)).toEqual(["sending, over", "waiting, over"]);
});

test("[CHN-14] an edit is tried again too; where it can't be, what is still asked is shown anew", async () => {
  const { outbox, channel, messages, drained } = await chattingHub();
  const [row] = await outbox.change(() => ({ add: [asking("one")] }));
  await drained();
  channel.trouble = failing(later(), never());
  await outbox.change(() => ({
    put: [{ ...row!, card: { ...row!.card, text: "renewed" }, state: "edit", ref: row!.id.toString(36) }],
  }));

  await drained();
  expect(texts(channel)).toEqual(["send one", "edit renewed", "edit renewed", "send renewed"]);
  expect((await messages()).at(-1)?.card.text).toBe("renewed");
});

test("[CHN-3] a button means what its row says, in its own thread, also after a restart", async () => {
  const first = await chattingHub();
  await first.outbox.change(() => ({ add: [asking("go?")] }));
  await first.drained();
  const [{ card } = { card: undefined }] = await first.messages();
  const action = card?.buttons[0]?.[0]?.action ?? "";
  await first.close();

  const { outbox, close } = await openChattingHub(first.dataDir);
  onTestFinished(close);
  expect(action).toMatch(/^[\da-z]+\.0$/);
  expect(outbox.pressed(THREAD, action)).toEqual(ACTION);
  expect([outbox.pressed(OTHER, action), outbox.pressed(THREAD, "zz.0"), outbox.pressed(THREAD, "?")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("[CHN-15] beyond 1,000 in a thread the oldest output is left out, and counted where it would have stood", async () => {
  const { outbox, channel } = await chattingHub();
  const gate = held(channel);
  const output = (text: string): NewRow => ({ ...THREAD, ...outputCard("build", text) });
  const add = [asking("first"), ...Array.from({ length: WAITING_MAX - 1 }, (_, index) => output(`out ${index}`))];
  await outbox.change(() => ({ add }));
  await outbox.change(() => ({ add: [output("late 1"), output("late 2")] }));
  await outbox.change(() => ({ add: [asking("last")] }));
  const waiting = outbox.waiting("web");
  gate.go();

  await eventually(() => expect(outbox.waiting("web")).toBe(0));
  const shown = channel.calls.map(({ card }) => card.code ?? card.text);
  expect(waiting).toBe(WAITING_MAX);
  expect(shown.slice(0, 3)).toEqual(["first", "4 messages were left out here.", "out 4"]);
  expect(shown.slice(-3)).toEqual(["late 1", "late 2", "last"]);
});

test("[CHN-15] notices, plans and what was decided before it was shown don't wait without end either", async () => {
  const { outbox, channel } = await chattingHub();
  const gate = held(channel);
  const over = asking("over");
  const plan: NewRow = { ...asking("plan"), card: { ...over.card, kind: "plan" } };
  const kinds = [notice("told"), plan, { ...over, card: decided(over.card, "No longer asked") }];
  for (let round = 0; round < 5; round += 1) {
    const add = Array.from({ length: 300 }, (_, index) => kinds[index % kinds.length]!);
    await outbox.change(() => ({ add: [asking(`open ${round}`), ...add] }));
  }
  const waiting = outbox.waiting("web");
  gate.go();

  await eventually(() => expect(outbox.waiting("web")).toBe(0));
  const shown = new Set(channel.calls.map(({ card }) => card.text));
  expect(waiting).toBeLessThanOrEqual(WAITING_MAX);
  expect(Array.from({ length: 5 }, (_, round) => shown.has(`open ${round}`))).toEqual(Array(5).fill(true));
});

test("[CHN-16] of what is shown and still to be decided the newest 2,000 of a channel are kept; what is over goes", () => {
  const row = { ...asking("x"), state: "sent", ref: "m" } as const;
  const rows = Array.from({ length: SHOWN_MAX + 1 }, (_, id) => ({ ...row, id }));
  expect(surplus([...rows, { ...row, id: 9_999, channel: "other" }], "web")).toEqual([0, 1]);
  expect(surplus(rows.slice(0, SHOWN_MAX - 1), "web")).toEqual([]);
});

test("[CHN-16] once it is shown, a row that nothing will change is gone from the store", async () => {
  const { outbox, drained, store } = await chattingHub();
  await outbox.change(() => ({ add: [notice("over"), asking("open")] }));
  await drained();
  expect((await store.outbox.rows()).map(({ about, state }) => [about, state])).toEqual([["open", "sent"]]);
});

test("[CHN-13] what was shown but could not be stored as shown is not shown again", async () => {
  let broken = 0;
  const failingStore = (store: OutboxStore): OutboxStore => ({
    change: async (change) => {
      if (change.drop?.length === 1 && broken < 3) {
        broken += 1;
        throw new Error("disk full");
      }
      return store.change(change);
    },
    rows: () => store.rows(),
    consumed: () => store.consumed(),
    forwarded: () => store.forwarded(),
    seen: (delivery) => store.seen(delivery),
    saw: (delivery, reaction) => store.saw(delivery, reaction),
  });
  const { outbox, channel, drained } = await chattingHub({ storeOf: failingStore });
  await outbox.change(() => ({ add: [notice("one")] }));

  await drained();
  expect([broken, texts(channel)]).toEqual([3, ["send one"]]);
});
