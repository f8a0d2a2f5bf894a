/**
 * What Slack tells, as what came in. Only people's own words and presses get through: ours, other bots' and changes of messages
 * would be answers that nobody gave. Rules CHN-78..CHN-83 in docs/spec/channels.md.
 */
import { z } from "zod";
import type { Incoming } from "../../hub/channel-port.ts";
import { readMrkdwn } from "./mrkdwn.ts";

export type Envelope = { readonly type: string; readonly body: unknown };

export type OurPlace = {
  /** Our own user, who is mentioned when somebody means us: letters and digits. */
  readonly botId: string;
  readonly isBound: (threadId: string) => boolean;
};

const Message = z.object({
  event_id: z.string().min(1),
  event: z.object({
    type: z.enum(["message", "app_mention"]),
    subtype: z.string().optional(),
    channel: z.string().min(1),
    user: z.string().min(1),
    bot_id: z.string().optional(),
    text: z.string().min(1),
    ts: z.string().min(1),
    thread_ts: z.string().optional(),
    parent_user_id: z.string().optional(),
  }),
});
type Message = z.infer<typeof Message>["event"];

const Press = z.object({
  type: z.literal("block_actions"),
  user: z.object({ id: z.string().min(1), name: z.string().optional(), username: z.string().optional() }),
  channel: z.object({ id: z.string().min(1) }),
  message: z.object({ ts: z.string().min(1), thread_ts: z.string().optional() }),
  actions: z.tuple([z.object({ value: z.string().min(1), action_ts: z.string().min(1) })], z.unknown()),
});

/** Said by a person, with something beside: their words count. */
const PERSONS_SUBTYPES = new Set([undefined, "thread_broadcast", "file_share"]);

export function incomingOf(envelope: Envelope, ours: OurPlace): Incoming | undefined {
  if (envelope.type === "events_api") return textOf(envelope.body, ours);
  return envelope.type === "interactive" ? pressOf(envelope.body) : undefined;
}

/** Where a message is written directly to us, the conversation itself is the thread. */
export function isDirect(channelId: string): boolean {
  return channelId.startsWith("D");
}

function textOf(body: unknown, ours: OurPlace): Incoming | undefined {
  const read = Message.safeParse(body);
  if (!read.success) return undefined;
  const { event, event_id: id } = read.data;
  if (event.bot_id !== undefined || event.user === ours.botId || !PERSONS_SUBTYPES.has(event.subtype)) return undefined;
  const threadId = threadOf(event, ours);
  if (!isMeant(event, threadId, ours)) return undefined;
  const direct = isDirect(event.channel);
  const text = readMrkdwn(direct ? event.text : withoutMention(event.text, ours.botId));
  if (text === "") return undefined;
  const user = { id: event.user, name: event.user };
  return { id, threadId, user, ref: event.ts, kind: "text", text, writtenAt: Math.floor(Number(event.ts) * 1_000) };
}

/** Slack tells a mention twice, as a message of the channel and as a mention: with two ids, so only one may count. */
function isMeant(event: Message, threadId: string, { botId, isBound }: OurPlace): boolean {
  if (isDirect(event.channel)) return event.type === "message";
  if (event.type === "app_mention") return true;
  return !mentionOf(botId).test(event.text) && isBound(threadId);
}

function threadOf({ channel, ts, thread_ts: parent, parent_user_id: opener }: Message, ours: OurPlace): string {
  if (isDirect(channel) || parent === undefined || parent === ts) return channel;
  const thread = `${channel}/${parent}`;
  // People answer a card by replying under it.
  const underCard = opener === ours.botId && !ours.isBound(thread) && ours.isBound(channel);
  return underCard ? channel : thread;
}

function pressOf(body: unknown): Incoming | undefined {
  const read = Press.safeParse(body);
  if (!read.success) return undefined;
  const { user, channel, message, actions } = read.data;
  const { value: action, action_ts: pressedAt } = actions[0];
  const inThread = !isDirect(channel.id) && message.thread_ts !== undefined && message.thread_ts !== message.ts;
  return {
    id: `${message.ts}:${pressedAt}:${user.id}`,
    threadId: inThread ? `${channel.id}/${message.thread_ts}` : channel.id,
    user: { id: user.id, name: user.name ?? user.username ?? user.id },
    ref: message.ts,
    kind: "press",
    action,
  };
}

function withoutMention(text: string, botId: string): string {
  return text.replaceAll(mentionOf(botId, "g"), " ").trim();
}

function mentionOf(botId: string, flags = ""): RegExp {
  return new RegExp(`<@${botId}(?:\\|[^<>]*)?>[:,]?`, `u${flags}`);
}
