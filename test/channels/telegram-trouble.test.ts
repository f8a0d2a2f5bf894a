import { expect, test } from "vitest";
import { TelegramChannel } from "../../src/channels/telegram/telegram-channel.ts";
import type { TelegramTiming } from "../../src/channels/telegram/telegram-channel.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { eventually } from "../support/eventually.ts";
import type { Fault } from "./telegram-server.ts";
import { ANN, openTelegram, SOON_MS } from "./telegram-stage.ts";

const NOTICE = { kind: "notice", text: "hello", buttons: [] } as const;
const BAD_TOKEN = "Telegram doesn't know this token: take a new one from @BotFather and add the channel again";

async function started(timing: Partial<TelegramTiming> = {}) {
  const stage = await openTelegram(timing);
  const texts: string[] = [];
  await stage.channel.start(async (it) => {
    texts.push(it.kind === "text" ? it.text : it.action);
    return {};
  });
  await eventually(() => expect(stage.telegram.updates.isRead).toBe(true));
  return { ...stage, texts };
}

test.each<{ fault: Fault; detail: string }>([
  { fault: { status: 502 }, detail: "Telegram can't be reached" },
  { fault: { status: 500, description: "Internal Server Error" }, detail: "Telegram has a fault (500)" },
  { fault: { status: 429, retryAfter: 0 }, detail: "Telegram asks to wait for 0 s" },
  { fault: "reset", detail: "Telegram can't be reached (ECONNRESET)" },
  { fault: "silent", detail: "Telegram doesn't answer in time" },
])("[CHN-66] reading goes on for ever, and says why it doesn't: $detail", async ({ fault, detail }) => {
  const { channel, telegram, texts } = await started(fault === "silent" ? { callMs: SOON_MS } : {});
  telegram.fail(["getUpdates"], fault, { lasting: true });
  telegram.says(ANN, "one");
  await eventually(() => expect(channel.health).toEqual({ state: "connecting", detail }));

  telegram.heal();
  telegram.says(ANN, "two");
  await eventually(() => expect(texts).toEqual(["one", "two"]));
  await eventually(() => expect(channel.health).toEqual({ state: "up" }));
});

test("[CHN-66] Telegram isn't asked again before the time that it named", async () => {
  const { telegram, texts } = await started();
  const beganAt = performance.now();
  telegram.fail(["getUpdates"], { status: 429, retryAfter: 1 });
  telegram.says(ANN, "wakes the reader");
  await eventually(() => expect(texts).toEqual(["wakes the reader"]));
  telegram.says(ANN, "two");

  await eventually(() => expect(texts).toEqual(["wakes the reader", "two"]));
  expect(performance.now() - beganAt).toBeGreaterThan(990);
});

test("[CHN-67] another reader of the same bot is named, until it is gone", async () => {
  const { channel, another, telegram } = await started();
  const other = another();
  await other.start(async () => ({}));
  const detail = "another program reads this bot's messages: end it, or use a bot of its own here";
  await eventually(() => expect(channel.health).toEqual({ state: "failed", detail }));

  await other.close();
  telegram.says(ANN, "hi");
  await eventually(() => expect(channel.health).toEqual({ state: "up" }));
});

test("[CHN-67] while two read, neither believes from time to time that all is well", async () => {
  const { another, telegram, logged } = await started({ waitSeconds: 60 });
  await another().start(async () => ({}));
  await eventually(() => expect(telegram.updates.offsets.length).toBeGreaterThan(30));

  expect(logged().match(/another program reads/g)?.length).toBe(2);
});

test("[CHN-67] so is a webhook", async () => {
  const { channel, telegram } = await started();
  telegram.updates.webhook = true;
  telegram.says(ANN, "wakes the reader");
  const detail = "this bot's messages go to a webhook: remove it (deleteWebhook), or use a bot of its own here";
  await eventually(() => expect(channel.health).toEqual({ state: "failed", detail }));
});

test("[CHN-68] a token that Telegram doesn't know is told at the start and afterwards", async () => {
  const { channel, another, telegram } = await started();
  telegram.revoke();
  await eventually(() => expect(channel.health).toEqual({ state: "failed", detail: BAD_TOKEN }));
  await expect(channel.send(ANN.id, NOTICE)).rejects.toMatchObject({ again: "never", message: BAD_TOKEN });

  const next = another();
  await expect(next.start(async () => ({}))).rejects.toMatchObject({ again: "never", message: BAD_TOKEN });
  expect(next.health).toEqual({ state: "failed", detail: BAD_TOKEN });
});

test("[CHN-68] what isn't a token is never sent anywhere", async () => {
  const { telegram } = await openTelegram();
  const logger = createLogger("error", () => undefined);
  const channel = new TelegramChannel({ token: "1:a/../../x", apiRoot: telegram.url, logger });

  const message = "this isn't a token of a Telegram bot";
  await expect(channel.start(async () => ({}))).rejects.toMatchObject({ again: "never", message });
  expect(telegram.calls).toEqual([]);
});

test("[CHN-68] a start that doesn't reach Telegram may be tried again", async () => {
  const { channel, telegram, botName } = await openTelegram();
  telegram.fail(["getMe"], "reset");

  await expect(channel.start(async () => ({}))).rejects.toMatchObject({ again: "later" });
  expect(channel.health).toEqual({ state: "connecting", detail: "Telegram can't be reached (ECONNRESET)" });
  expect(await channel.start(async () => ({}))).toBe(botName);
});

test("[CHN-68] a channel that is closed while it starts never begins to read", async () => {
  const { channel, telegram } = await openTelegram();
  const starting = channel.start(async () => ({}));

  await channel.close();

  await expect(starting).rejects.toMatchObject({ again: "never", message: "the channel was closed" });
  expect(telegram.updates.offsets).toEqual([]);
});

test("[CHN-69] of what Telegram says of a refusal the reason is told, never what it quotes, and never a token", async () => {
  const { channel, telegram, secrets, logged } = await started();
  const description =
    "Bad Request: inline keyboard button URL 'https://hub.example/secret/s3cret' is invalid: Wrong HTTP URL";
  telegram.fail(["sendMessage"], { status: 400, description });
  await expect(channel.send(ANN.id, NOTICE)).rejects.toMatchObject({
    again: "never",
    message: "Telegram refused sendMessage: Bad Request: inline keyboard button URL … is invalid: Wrong HTTP URL",
  });

  telegram.fail(["getUpdates"], "reset", { lasting: true });
  telegram.says(ANN, "wakes the reader");
  await eventually(() => expect(channel.health.state).toBe("connecting"));
  for (const secret of ["s3cret", ...secrets]) expect(logged() + JSON.stringify(channel.health)).not.toContain(secret);
});

test("[CHN-69] an address that can't be reached tells neither address nor token", async () => {
  const { telegram, secrets } = await openTelegram();
  const lines: string[] = [];
  const logger = createLogger("debug", (line) => void lines.push(line));
  // Nothing listens there: it is a port that only the system may open.
  const channel = new TelegramChannel({ token: telegram.token, apiRoot: "http://127.0.0.1:1/", logger });

  const failure = await channel.start(async () => ({})).catch((error: unknown) => error as Error);
  expect(failure).toMatchObject({
    again: "later",
    message: "Telegram can't be reached (ECONNREFUSED)",
  });
  const all = [String(failure), JSON.stringify(failure), (failure as Error).stack, ...lines].join("\n");
  for (const secret of secrets) expect(all).not.toContain(secret);
});

test("[CHN-69] a card that was shown although the answer got lost counts as not known: later", async () => {
  const { channel, telegram } = await started();
  telegram.fail(["sendMessage"], "lost");

  await expect(channel.send(ANN.id, NOTICE)).rejects.toMatchObject({ again: "later" });
  expect(telegram.shown(ANN.id)).toHaveLength(1);
});
