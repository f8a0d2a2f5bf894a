/** Channels, and what people say in threads of ours: input → one call of a desk → what became of it. */
import type { ChannelDesk, Invitation, ListedChannel } from "../../hub/chat/channel-desk.ts";
import type { ChannelInfo, ChannelInvitation } from "../../protocol/channels.ts";
import type { Caller } from "../caller.ts";
import type { Handlers } from "../dispatcher.ts";

export type ChannelDesks = { readonly channels: ChannelDesk; readonly newId: () => string };

export function channelHandlers({ channels, newId }: ChannelDesks) {
  // A call that is repeated is known by its Idempotency-Key: each one that comes here is another.
  const delivery = (threadId: string, { actor }: Caller, ref: string) => ({
    id: newId(),
    threadId,
    user: { id: actor.id, name: actor.id },
    ref,
  });
  return {
    "conversation.say": async ({ channel, thread_id: threadId, text }, { caller }) => ({
      ...(await channels.take(channel, { ...delivery(threadId, caller, ""), kind: "text", text })),
    }),
    "conversation.press": async ({ channel, thread_id: threadId, message_id: ref, action }, { caller }) => ({
      ...(await channels.take(channel, { ...delivery(threadId, caller, ref), kind: "press", action })),
    }),
    "channel.add": async ({ kind, token, app_token: appToken, api_root: apiRoot }, { caller }) =>
      invitation(await channels.add({ kind, token, appToken, apiRoot }, caller.actor)),
    "channel.list": async () => (await channels.list()).map(onWire),
    "channel.invite": ({ name }) => invitation(channels.invite(name)),
    "channel.test": async ({ name }) => {
      await channels.test(name);
      return { ok: true as const };
    },
    "channel.remove": async ({ name }, { caller }) => {
      await channels.remove(name, caller.actor);
      return { ok: true as const };
    },
    "channel.remove_person": async ({ name, person_id: personId }, { caller }) => {
      await channels.removePerson(name, personId, caller.actor);
      return { ok: true as const };
    },
  } satisfies Partial<Handlers>;
}

function invitation({ name, bot, code, link, expiresAt }: Invitation): ChannelInvitation {
  const pairing = { pairing_code: code, ...(link !== undefined && { pairing_link: link }) };
  return { name, bot, ...pairing, expires_at: expiresAt };
}

function onWire({ name, kind, bot, health, people, home, waiting, refused, lastError }: ListedChannel): ChannelInfo {
  return {
    name,
    kind,
    ...(bot !== undefined && { bot }),
    health: { ...health },
    people: people.map((it) => ({ ...it })),
    ...(home !== undefined && { home }),
    waiting,
    refused,
    ...(lastError !== undefined && { last_error: lastError }),
  };
}
