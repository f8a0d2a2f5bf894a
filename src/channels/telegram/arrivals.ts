/**
 * What an update of Telegram means for us. Only what a person writes or presses themselves counts: no edits, captions, posts of
 * channels, bots. Rules CHN-59..CHN-61 in docs/spec/channels.md.
 */
import type { CallbackQuery, Message, Update, User } from "grammy/types";
import type { ChatUser, Incoming } from "../../hub/channel-port.ts";
import type { Place } from "./api.ts";

export type Arrival = {
  readonly incoming: Incoming | undefined;
  /** Of a press: has to be answered, or the button goes on turning. */
  readonly queryId: string | undefined;
};

export function arrivalOf(update: Update, botName: string): Arrival {
  const { update_id, message, callback_query: query } = update;
  const id = String(update_id);
  if (message !== undefined) return { incoming: textOf(id, message, botName), queryId: undefined };
  return { incoming: query === undefined ? undefined : pressOf(id, query), queryId: query?.id };
}

/** `chat` or `chat/topic`; undefined if it is neither. */
export function placeOf(threadId: string): Place | undefined {
  const parts = /^(-?\d{1,16})(?:\/(\d{1,16}))?$/.exec(threadId);
  if (parts === null) return undefined;
  const place = { chat_id: Number(parts[1]) };
  return parts[2] === undefined ? place : { ...place, message_thread_id: Number(parts[2]) };
}

function textOf(id: string, message: Message, botName: string): Incoming | undefined {
  const { from, text } = message;
  // Written by a group, a channel or another bot in somebody's name: not by a person whom we could know.
  if (from === undefined || from.is_bot || message.sender_chat !== undefined || message.via_bot !== undefined) return;
  const own = text === undefined ? undefined : addressedText(text, botName);
  if (own === undefined || own === "") return;
  return {
    id,
    kind: "text",
    threadId: threadOf(message),
    user: userOf(from),
    ref: String(message.message_id),
    text: own,
    // Telegram tells whole seconds. Their begin: who wrote in the second of a question may not have seen it.
    writtenAt: message.date * 1_000,
  };
}

function pressOf(id: string, { from, message, data }: CallbackQuery): Incoming | undefined {
  if (from.is_bot || message === undefined || data === undefined) return;
  return {
    id,
    kind: "press",
    threadId: threadOf(message),
    user: userOf(from),
    ref: String(message.message_id),
    action: data,
  };
}

/** In groups a command names its bot: `/stop@our_bot`. One for another bot isn't for us. */
function addressedText(text: string, botName: string): string | undefined {
  const command = /^(\/\w+)@(\w+)/.exec(text);
  if (command === null) return text;
  const [whole, name = "", to = ""] = command;
  return to.toLowerCase() === botName.toLowerCase() ? name + text.slice(whole.length) : undefined;
}

/** A message may name a thread of replies too: only a topic is a place of its own. */
function threadOf(message: NonNullable<CallbackQuery["message"]>): string {
  const topic = "is_topic_message" in message && message.is_topic_message ? message.message_thread_id : undefined;
  return topic === undefined ? String(message.chat.id) : `${message.chat.id}/${topic}`;
}

function userOf(user: User): ChatUser {
  const name = [user.first_name, user.last_name].filter((it) => it !== undefined && it !== "").join(" ");
  return { id: String(user.id), name: name === "" ? (user.username ?? String(user.id)) : name };
}
