/** A Telegram channel on a server of its own, in a private chat with Ann. */
import { onTestFinished } from "vitest";
import { TelegramChannel } from "../../src/channels/telegram/telegram-channel.ts";
import type { TelegramTiming } from "../../src/channels/telegram/telegram-channel.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { patience } from "../../tools/suite/patience.ts";
import { DEADLINE_MS } from "../support/deadline.ts";
import type { ChannelTrouble, Stage } from "./channel.contract.ts";
import { BOT_NAME, TelegramServer } from "./telegram-server.ts";
import type { Fault } from "./telegram-server.ts";

export const ANN = { id: "11", name: "Ann" };

const SHOWING = ["sendMessage", "editMessageText"];

/** Short enough for a test to wait for. */
const TIMING: TelegramTiming = { waitSeconds: 2, callMs: DEADLINE_MS, retryMinMs: 10, retryMaxMs: 50 };
/** When a call that Telegram never answers is given up; longer than a busy machine takes for one that it does. */
export const SOON_MS = 1_000 * patience();

export type TelegramStage = Stage & {
  readonly telegram: TelegramServer;
  /** Another channel of the same bot, as after a restart. */
  readonly another: () => TelegramChannel;
};

export const openHastyTelegram = (): Promise<TelegramStage> => openTelegram({ callMs: SOON_MS });

export async function openTelegram(timing: Partial<TelegramTiming> = {}): Promise<TelegramStage> {
  const telegram = await TelegramServer.start();
  onTestFinished(() => telegram[Symbol.asyncDispose]());
  const lines: string[] = [];
  const logger = createLogger("debug", (line) => void lines.push(line));
  const another = (): TelegramChannel => {
    const settings = { token: telegram.token, apiRoot: telegram.url, timing: { ...TIMING, ...timing } };
    const channel = new TelegramChannel({ ...settings, logger });
    onTestFinished(() => channel.close());
    return channel;
  };
  return {
    channel: another(),
    another,
    telegram,
    botName: `@${BOT_NAME}`,
    threadId: ANN.id,
    ann: ANN,
    secrets: [telegram.token, telegram.token.split(":")[1] ?? ""],
    logged: () => lines.join(""),
    server: {
      says: async (user, text) => telegram.says(user, text),
      presses: (user, ref, label) => telegram.presses(user, ref, label),
      shown: () =>
        ours(telegram)
          .filter((it) => it.replyTo === undefined)
          .map(({ ref, text, buttons }) => ({
            ref,
            text,
            buttons: buttons.map((row) => row.map((it) => it.label)),
          })),
      notices: () =>
        ours(telegram)
          .filter((it) => it.replyTo !== undefined)
          .map((it) => it.text),
      fails: (trouble, retryAfterMs) => telegram.fail(SHOWING, faultOf(trouble, retryAfterMs)),
      repeats: () => void (telegram.updates.duplicates = true),
    },
  };
}

function ours(telegram: TelegramServer) {
  return telegram.shown(ANN.id).filter((it) => it.by === "bot");
}

function faultOf(trouble: ChannelTrouble, retryAfterMs: number): Fault {
  switch (trouble) {
    case "too many":
      return { status: 429, description: "Too Many Requests: retry after 2", retryAfter: retryAfterMs / 1000 };
    case "broken":
      return { status: 502 };
    case "silent":
      return "silent";
    case "refused":
      return { status: 403, description: "Forbidden: bot was blocked by the user" };
  }
}
