import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import type { TelegramTiming } from "../../src/channels/telegram/telegram-channel.ts";
import type { Incoming, Reaction } from "../../src/hub/channel-port.ts";
import { eventually } from "../support/eventually.ts";
import { BOT_NAME } from "./telegram-server.ts";
import { ANN, openTelegram } from "./telegram-stage.ts";

const ASKING = { kind: "prompt", text: "Go on?", buttons: [[{ label: "Yes", action: "1.0" }]] } as const;
const TOPIC = "-1001234567890/7";

function textsOf(received: readonly Incoming[]): string[] {
  return received.map((it) => (it.kind === "text" ? it.text : it.action));
}

async function hearing(
  react: (incoming: Incoming) => Promise<Reaction> = async () => ({}),
  timing: Partial<TelegramTiming> = {},
) {
  const stage = await openTelegram(timing);
  const received: Incoming[] = [];
  await stage.channel.start((incoming) => {
    received.push(incoming);
    return react(incoming);
  });
  return { ...stage, received };
}

test("[CHN-59] a topic of a group is a thread of its own, for cards, texts, presses and notices", async () => {
  const { channel, telegram, received } = await hearing(async () => ({ notice: "ok" }));
  const ref = await channel.send(TOPIC, ASKING);
  telegram.says(ANN, "hi", TOPIC);
  telegram.says(ANN, "general", "-1001234567890");
  expect(await telegram.presses(ANN, ref, "Yes")).toBe("ok");

  await eventually(() => expect(telegram.shown(TOPIC).map((it) => it.text)).toEqual(["Go on?", "hi", "ok"]));
  expect(received.map((it) => it.threadId)).toEqual([TOPIC, "-1001234567890", TOPIC]);
  expect(telegram.shown(TOPIC).at(-1)).toMatchObject({ replyTo: telegram.shown(TOPIC)[1]?.ref });
});

test("[CHN-59] a thread of replies is no topic", async () => {
  const { telegram, received } = await hearing();
  telegram.says(ANN, "hi", "-1001234567890", { message_thread_id: 4 });
  await eventually(() => expect(received.map((it) => it.threadId)).toEqual(["-1001234567890"]));
});

test("[CNV-31, CHN-45] a text counts from the begin of its second", async () => {
  const { telegram, received } = await hearing();
  telegram.says(ANN, "hi", TOPIC, { date: 5 });
  await eventually(() => expect(received).toMatchObject([{ text: "hi", writtenAt: 5_000 }]));
});

test.each(["", "ann", "1/2/3", "-", "1/x", "11\n"])("[CHN-59] %j is no thread", async (threadId) => {
  const { channel } = await hearing();
  await expect(channel.send(threadId, ASKING)).rejects.toMatchObject({ again: "never" });
});

test("[CHN-60] what no person wrote just now is ignored, and acknowledged", async () => {
  const { telegram, received } = await hearing(async () => ({ notice: "ok" }));
  const message = { message_id: 900, date: 1, chat: { id: 11, type: "private" } };
  const from = { id: 11, is_bot: false, first_name: "Ann" };
  telegram.updates.add({ message: { ...message, from, photo: [], caption: "rm -rf" } });
  telegram.updates.add({ message: { ...message, from, new_chat_title: "x" } });
  telegram.updates.add({ message: { ...message, from: { ...from, is_bot: true }, text: "bot" } });
  telegram.updates.add({ message: { ...message, from, sender_chat: { id: -100, type: "channel" }, text: "channel" } });
  telegram.updates.add({ message: { ...message, from, via_bot: { ...from, is_bot: true }, text: "inline" } });
  telegram.updates.add({ message: { ...message, text: "nobody" } });
  telegram.says(ANN, "me");

  await eventually(() => expect(telegram.updates.waiting).toBe(0));
  expect(textsOf(received)).toEqual(["me"]);
});

test("[CHN-60] edits and posts of channels aren't even asked for, and ignored if they come", async () => {
  const { telegram, received } = await hearing();
  const message = { message_id: 900, date: 1, chat: { id: 11, type: "private" }, from: { id: 11, first_name: "Ann" } };
  telegram.updates.add({ edited_message: { ...message, text: "edited" } });
  telegram.updates.add({ channel_post: { ...message, text: "post" } });
  telegram.updates.unasked = true;
  telegram.says(ANN, "me");

  await eventually(() => expect(telegram.updates.waiting).toBe(0));
  expect(textsOf(received)).toEqual(["me"]);
});

test("[CHN-61] a command that names us is a command, one for another bot isn't ours", async () => {
  const { telegram, received } = await hearing();
  for (const text of [`/stop@${BOT_NAME.toUpperCase()} now`, "/stop@other_bot", "/use 2", `mail a@${BOT_NAME}`]) {
    telegram.says(ANN, text, TOPIC);
  }
  await eventually(() => expect(telegram.updates.waiting).toBe(0));
  expect(textsOf(received)).toEqual(["/stop now", "/use 2", `mail a@${BOT_NAME}`]);
});

test("[CHN-62] an update is acknowledged when it is dealt with and not before; those after it come meanwhile", async () => {
  const gate = Promise.withResolvers<Reaction>();
  const { telegram, received } = await hearing((it) =>
    "text" in it && it.text === "slow" ? gate.promise : Promise.resolve({}),
  );
  for (const text of ["first", "slow", "third"]) telegram.says(ANN, text);

  await eventually(() => expect(textsOf(received)).toEqual(["first", "slow", "third"]));
  const slowId = Number(received[1]?.id);
  // Asked again with the slow one as the first that isn't dealt with, twice: the rest isn't told twice.
  await eventually(() => expect(telegram.updates.offsets.filter((it) => it === slowId).length).toBeGreaterThan(1));
  expect(telegram.updates.waiting).toBe(2);
  expect(Math.max(...telegram.updates.offsets)).toBe(slowId);

  gate.resolve({});
  await eventually(() => expect(telegram.updates.waiting).toBe(0));
  expect(received).toHaveLength(3);
});

test("[CHN-62] updates of one answer are told in their order, whatever theirs was", async () => {
  const { telegram, received } = await hearing();
  telegram.updates.shuffled = true;
  telegram.updates.hold();
  for (const text of ["1", "2", "3"]) telegram.says(ANN, text);
  telegram.updates.release();

  await eventually(() => expect(textsOf(received)).toEqual(["1", "2", "3"]));
});

test("[CHN-63] what wasn't dealt with comes again after a restart, with its id; what was, doesn't", async () => {
  const fails = async (it: Incoming) => {
    if ("text" in it && it.text === "lost") throw new Error("closed");
    return {};
  };
  const { channel, another, telegram, received } = await hearing(fails, { retryMinMs: 60_000, retryMaxMs: 60_000 });
  telegram.says(ANN, "done");
  telegram.says(ANN, "lost");
  telegram.says(ANN, "after");
  await eventually(() => expect(textsOf(received)).toEqual(expect.arrayContaining(["done", "lost", "after"])));
  await channel.close();
  expect(telegram.updates.waiting).toBe(2);

  const again: Incoming[] = [];
  await another().start(async (incoming) => {
    again.push(incoming);
    return {};
  });
  await eventually(() => expect(telegram.updates.waiting).toBe(0));
  expect(textsOf(again)).toEqual(["lost", "after"]);
  expect(again.map((it) => it.id)).toEqual([
    received[1]?.id,
    received.find((it) => "text" in it && it.text === "after")?.id,
  ]);
});

test("[CHN-63] closing waits for what is being dealt with, and acknowledges it", async () => {
  // Longer than a look for what is new.
  const { channel, telegram, received } = await hearing(() => setTimeout(700, { notice: "done" }));
  telegram.says(ANN, "slow");
  await eventually(() => expect(received).toHaveLength(1));

  await channel.close();
  expect(telegram.updates.waiting).toBe(0);
  expect(telegram.shown(ANN.id).map((it) => it.text)).toEqual(["slow", "done"]);
});

test("[CHN-64] what fails is tried five times, then given up; a press is answered all the same", async () => {
  const { channel, telegram, received } = await hearing(() => Promise.reject(new Error("no")));
  const ref = await channel.send(ANN.id, ASKING);

  expect(await telegram.presses(ANN, ref, "Yes")).toBe("");
  await eventually(() => expect(telegram.updates.waiting).toBe(0));
  expect(received.map((it) => it.id)).toEqual(Array.from({ length: 5 }, () => received[0]?.id));
});

test("[CHN-64] a press that tells us nothing is answered too", async () => {
  const { telegram, received } = await hearing();
  expect(await telegram.pressesInline(ANN)).toBe("");
  expect(received).toEqual([]);
});

test("[CHN-65] a notice for a press is cut to 200 characters, one for a text is tied to it", async () => {
  const { channel, telegram } = await hearing(async () => ({ notice: "😀".repeat(3_000) }));
  const ref = await channel.send(ANN.id, ASKING);

  expect(await telegram.presses(ANN, ref, "Yes")).toBe(`${"😀".repeat(99)}…`);
  const said = telegram.says(ANN, "hi");
  await eventually(() => expect(telegram.shown(ANN.id).at(-1)).toMatchObject({ by: "bot", replyTo: said }));
  expect(telegram.shown(ANN.id).at(-1)?.text).toBe(`${"😀".repeat(2_047)}…`);
});

test("[CHN-65] a notice about a message that was removed is still told", async () => {
  const stage = await hearing(async (incoming) => {
    await stage.channel.remove(incoming.threadId, incoming.ref);
    return { notice: "Sent: [REDACTED]" };
  });
  stage.telegram.says(ANN, "hunter2");
  await eventually(() => expect(stage.telegram.shown(ANN.id).map((it) => it.text)).toEqual(["Sent: [REDACTED]"]));
});

test("[CHN-44] a message that Telegram doesn't let us remove stays, and that is answered", async () => {
  const { channel, telegram } = await hearing(async () => ({}));
  const ref = telegram.says(ANN, "hunter2");
  telegram.fail(["deleteMessage"], { status: 400, description: "Bad Request: message can't be deleted" });

  expect(await channel.remove(ANN.id, ref)).toBe(false);
});

test("[CHN-65] a notice that doesn't get through is tried again, and what can't be told holds up nothing", async () => {
  const { channel, telegram } = await hearing(async () => ({ notice: "ok" }));
  const ref = await channel.send(ANN.id, ASKING);
  telegram.fail(["answerCallbackQuery"], { status: 502 });
  telegram.fail(["answerCallbackQuery"], "reset");
  expect(await telegram.presses(ANN, ref, "Yes")).toBe("ok");

  telegram.fail(["sendMessage"], { status: 403, description: "Forbidden: bot was blocked by the user" });
  telegram.says(ANN, "hi");
  await eventually(() => expect(telegram.updates.waiting).toBe(0));
});
