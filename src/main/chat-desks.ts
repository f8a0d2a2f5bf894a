/** Chats both ways over one outbox: what leaves for them, what comes in from them, and the threads of our own page and command line. */
import { join } from "node:path";
import type { Actor } from "../domain/actor.ts";
import { HUB_STREAM } from "../domain/event.ts";
import type { AskedPrompt } from "../domain/prompts/asked-prompt.ts";
import { ChannelDesk, type ChannelDeskParts, type ChannelMaker } from "../hub/chat/channel-desk.ts";
import { LogChannel } from "../hub/chat/log-channel.ts";
import { outgoing, type OutgoingParts } from "../hub/chat/outgoing.ts";
import type { OutboxStore } from "../hub/chat/outbox-port.ts";
import type { SecretLinks } from "../hub/secret-links.ts";
import { AppError } from "../protocol/errors.ts";
import { ChannelsFile } from "../store/channels/channels-file.ts";
import { channelMaker } from "./channels.ts";

type Made = "maker" | "own" | "settings" | "outbox" | "links" | "pressed" | "shows";

export type ChatParts = Omit<ChannelDeskParts, Made> &
  Pick<OutgoingParts, "output" | "prompts" | "pace" | "reachable" | "workspaces"> & {
    readonly dataDir: string;
    readonly secretLinks: SecretLinks;
    readonly newId: () => string;
    readonly outboxStore: OutboxStore;
    readonly maker?: ChannelMaker | undefined;
    /** What is to be otherwise than the product's. */
    readonly leaving?: Partial<OutgoingParts> | undefined;
  };

/** Whoever opens the link in a chat: its page can't tell who that is. */
const BY_LINK: Actor = { kind: "person", id: "secret-link" };

export function chatDesks(parts: ChatParts) {
  const { dataDir, journal, threads, newId, logger, outboxStore, secretLinks } = parts;
  const leaving = outgoing({
    ...parts,
    store: outboxStore,
    channel: (name) => channels.channel(name),
    homes: () => channels.homes(),
    knows: (name) => channels.knows(name),
    nameOf: (id) => (id === BY_LINK.id ? "somebody by the link" : channels.people.nameOf(id)),
    secretLink: (asked, ended) => linkOf(secretLinks, asked, ended),
    random: Math.random,
    ...parts.leaving,
  });
  const own = (["web", "cli"] as const).map((name) => {
    const streamOf = (threadId: string): string => threads.sessionOf({ channel: name, threadId }) ?? HUB_STREAM;
    return new LogChannel({ name, journal, streamOf, newId, logger });
  });
  const { outbox, links } = leaving;
  const maker = parts.maker ?? channelMaker({ threads, logger });
  const settings = new ChannelsFile(join(dataDir, "channels.json"));
  const pressed = outbox.pressed.bind(outbox);
  const shows = outbox.shows.bind(outbox);
  const channels: ChannelDesk = new ChannelDesk({ ...parts, maker, own, settings, outbox, links, pressed, shows });
  channels.onChange(() => {
    outbox.wake();
    for (const home of channels.homes()) {
      leaving.announcer.catchUp(home).catch((error: unknown) => {
        logger.warn("a channel's home could not be told what waits", { channel: home.channel, error });
      });
    }
  });
  const start = async (): Promise<void> => {
    await channels.load();
    await leaving.start();
    await channels.start();
  };
  const stop = async (): Promise<void> => {
    await channels.stop();
    await leaving.stop();
  };
  return { ...leaving, channels, start, stop };
}

function linkOf(links: SecretLinks, asked: AskedPrompt, ended: AbortSignal): string | undefined {
  try {
    return links.linkFor(asked, BY_LINK, ended);
  } catch (error) {
    if (error instanceof AppError) return undefined; // it was answered meanwhile, or too many are open
    throw error;
  }
}
