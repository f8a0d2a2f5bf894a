/** The web page and the command line as channels. */
import { expect, test } from "vitest";
import type { Card } from "../../src/domain/channels/card.ts";
import { channelContract } from "../channels/channel.contract.ts";
import { openLogStage } from "./log-stage.ts";

const CARD: Card = {
  kind: "prompt",
  title: "build",
  text: "Password:",
  buttons: [[{ label: "Yes", action: "1a.0" }]],
  link: { label: "Type it", url: "http://127.0.0.1/secret/one-time" },
};

channelContract(openLogStage);

test("[CHN-25] what is shown, changed and removed are chat events of the thread", async () => {
  const { channel, threadId, events } = await openLogStage();
  await channel.start(async () => ({}));
  const ref = await channel.send(threadId, CARD, "k1");
  await channel.edit(threadId, ref, { ...CARD, text: "Answered by Ann" });
  await channel.remove(threadId, ref);

  const { link: _link, ...card } = CARD;
  const told = { kind: "card", channel: "web", thread_id: threadId, message_id: "k1" };
  expect(events.map(({ type, payload }) => ({ type, payload }))).toEqual([
    { type: "chat", payload: { ...told, card } },
    { type: "chat", payload: { ...told, card: { ...card, text: "Answered by Ann" }, edited: true } },
    { type: "chat", payload: { ...told, removed: true } },
  ]);
});

test("[CHN-26] a link that lets a secret in is in no event: agents read the log too", async () => {
  const { channel, threadId, events } = await openLogStage();
  await channel.start(async () => ({}));
  await channel.edit(threadId, await channel.send(threadId, CARD), CARD);

  expect(JSON.stringify(events)).not.toContain("one-time");
});

test("[CHN-27] what is sent again under its key is the same message", async () => {
  const { channel, threadId, server } = await openLogStage();
  await channel.start(async () => ({}));
  const first = await channel.send(threadId, CARD, "k1");
  const again = await channel.send(threadId, CARD, "k1");

  expect(again).toBe(first);
  expect(server.shown()).toHaveLength(1);
});
