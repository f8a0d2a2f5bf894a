/** Takes a message out of a chat that may hold a secret: at once, and again for a while if the platform is busy. */
import { setTimeout as after } from "node:timers/promises";
import type { Logger } from "../../lib/logger.ts";
import { type Channel, ChannelFailed, type MessageRef } from "../channel-port.ts";

type Message = { readonly threadId: string; readonly ref: MessageRef };

const TRIES = 6;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** Answers whether it is gone now; if not, it is tried on where that may help. */
export async function removeSurely(channel: Channel, message: Message, logger: Logger): Promise<boolean> {
  const failure = await tried(channel, message);
  if (failure === undefined) return true;
  logger.warn("a message could not be removed from a chat", { channel: channel.name, again: failure.again });
  void tryOn(channel, message, failure);
  return false;
}

async function tryOn(channel: Channel, message: Message, first: ChannelFailed): Promise<void> {
  let failure: ChannelFailed | undefined = first;
  for (let round = 0; round < TRIES && failure?.again === "later"; round += 1) {
    const waitMs = Math.min(failure.retryAfterMs ?? FIRST_WAIT_MS * 2 ** round, LONGEST_WAIT_MS);
    await after(waitMs, undefined, { ref: false });
    failure = await tried(channel, message);
  }
}

/** Undefined: it is gone. */
async function tried(channel: Channel, { threadId, ref }: Message): Promise<ChannelFailed | undefined> {
  try {
    return (await channel.remove(threadId, ref)) ? undefined : new ChannelFailed("The platform keeps it", "never");
  } catch (error) {
    return error instanceof ChannelFailed ? error : new ChannelFailed("It could not be asked", "never");
  }
}
