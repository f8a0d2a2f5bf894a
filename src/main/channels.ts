/** The chat platforms that this version speaks; the only place that knows their adapters. */
import { SlackChannel } from "../channels/slack/slack-channel.ts";
import { TelegramChannel } from "../channels/telegram/telegram-channel.ts";
import type { Channel } from "../hub/channel-port.ts";
import type { ChannelMaker } from "../hub/chat/channel-desk.ts";
import type { ConversationDesk } from "../hub/conversation-desk.ts";
import type { ChannelConfig, ChannelKind } from "../hub/ports.ts";
import type { Logger } from "../lib/logger.ts";

export type MakerParts = {
  readonly threads: Pick<ConversationDesk, "sessionOf">;
  readonly logger: Logger;
};

export function channelMaker({ threads, logger }: MakerParts): ChannelMaker {
  const makers: Record<ChannelKind, (config: ChannelConfig) => Channel> = {
    telegram: ({ name, token, apiRoot }) => new TelegramChannel({ name, token, apiRoot, logger }),
    slack: ({ name, token, appToken = "", apiRoot }) => {
      const isBound = (threadId: string): boolean => threads.sessionOf({ channel: name, threadId }) !== undefined;
      return new SlackChannel({ name, botToken: token, appToken, apiRoot, isBound, logger });
    },
  };
  return { make: (config) => makers[config.kind](config), pairingLink };
}

export function pairingLink(kind: ChannelKind, bot: string, code: string): string | undefined {
  return kind === "telegram" ? `https://t.me/${bot.replace(/^@/, "")}?start=${code}` : undefined;
}
