/** Chat platforms that people are reached by, and what they say there without one (seed 003). */
import { z } from "zod";
import { ACTION_BYTES_MAX } from "../domain/channels/card.ts";
import { AnyId, Name, Timestamp } from "./common.ts";
import { defineOperation } from "./operation.ts";

const kind = z.enum(["telegram", "slack"]);
const byChannel = z.object({ name: AnyId });
const Token = z
  .string()
  .min(8)
  .max(400)
  .regex(/^[\u0021-\u007E]+$/, "must be one word of visible ASCII characters");

export const ChannelInfo = z.object({
  name: z.string(),
  kind,
  bot: z.string().optional().meta({ description: "As people know it; absent: it was not reached yet" }),
  health: z.object({ state: z.enum(["up", "connecting", "failed"]), detail: z.string().optional() }),
  people: z.array(z.object({ id: z.string(), name: z.string(), role: z.literal("operator") })),
  home: z.string().optional().meta({ description: "The thread for what no thread is bound for" }),
  waiting: z.int().meta({ description: "Messages that are not shown yet" }),
  refused: z.int().meta({ description: "Messages of people who aren't on the list, since the hub started" }),
  last_error: z.string().optional(),
});
export type ChannelInfo = z.infer<typeof ChannelInfo>;

export const ChannelInvitation = z.object({
  name: z.string(),
  bot: z.string(),
  pairing_code: z.string().meta({ description: "Whoever sends `/start CODE` or `pair CODE` first is on the list" }),
  pairing_link: z.string().optional(),
  expires_at: Timestamp,
});
export type ChannelInvitation = z.infer<typeof ChannelInvitation>;

const Ok = z.object({ ok: z.literal(true) });
function isSafe(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" || /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

const operator = { roles: ["operator"] } as const;
/** A platform that is slow to answer. */
const PLATFORM_MS = 60_000;

const own = {
  channel: z.enum(["web", "cli"]).meta({ description: "Where you are; platforms speak for themselves" }),
  thread_id: Name,
};
const Reaction = z.object({
  notice: z.string().optional().meta({ description: "What became of it, in words for a person" }),
});
const TALK_MS = 30_000;

export const channelOperations = {
  "conversation.say": defineOperation({
    ...operator,
    name: "conversation.say",
    summary:
      "Say something in a thread, as in any chat: an answer if its session asks, else typed as your input (which takes control), or queued while it prints. `/help` lists commands.",
    method: "POST",
    path: "/conversations/say",
    effect: "write",
    input: z.object({ ...own, text: z.string().min(1).max(8_000) }),
    output: Reaction,
    secretInput: ["text"],
    // Its answer repeats what was said.
    idempotency: "memory",
    budgetMs: TALK_MS,
  }),
  "conversation.press": defineOperation({
    ...operator,
    name: "conversation.press",
    summary: "Press a button of a card in a thread.",
    method: "POST",
    path: "/conversations/press",
    effect: "write",
    input: z.object({ ...own, message_id: AnyId, action: z.string().min(1).max(ACTION_BYTES_MAX) }),
    output: Reaction,
    budgetMs: TALK_MS,
  }),
  "channel.add": defineOperation({
    ...operator,
    name: "channel.add",
    summary: "Connect a chat platform. Its token is checked with the platform and kept by the hub alone.",
    method: "POST",
    path: "/channels",
    status: 201,
    effect: "write",
    input: z
      .object({
        kind,
        token: Token.meta({ description: "Of the bot" }),
        app_token: Token.optional().meta({ description: "Of Slack: the app-level token (`xapp-`)" }),
        api_root: z
          .url({ protocol: /^https?$/ })
          .max(500)
          .refine(isSafe, "must be https, or on this machine: tokens are sent to it")
          .optional()
          .meta({ description: "Of the platform's API, where it isn't the usual one" }),
      })
      .refine((it) => (it.kind === "slack") === (it.app_token !== undefined), {
        message: "is needed for slack, and for slack only",
        path: ["app_token"],
      }),
    output: ChannelInvitation,
    errors: ["invalid_transition", "kind_unavailable", "channel_failed"],
    secretInput: ["token", "app_token"],
    idempotency: "memory",
    budgetMs: PLATFORM_MS,
  }),
  "channel.list": defineOperation({
    ...operator,
    name: "channel.list",
    summary: "List the chat platforms: how each stands, who may speak there, what waits. Without tokens.",
    method: "GET",
    path: "/channels",
    effect: "read",
    input: z.object({}),
    output: z.array(ChannelInfo),
  }),
  "channel.invite": defineOperation({
    ...operator,
    name: "channel.invite",
    summary: "Make a code by which one more person gets onto a channel's list, within ten minutes.",
    method: "POST",
    path: "/channels/{name}/invite",
    effect: "write",
    input: byChannel,
    output: ChannelInvitation,
    errors: ["not_found", "limit_reached"],
    idempotency: "memory",
  }),
  "channel.test": defineOperation({
    ...operator,
    name: "channel.test",
    summary: "Send a test message to a channel's home.",
    method: "POST",
    path: "/channels/{name}/test",
    effect: "write",
    input: byChannel,
    output: Ok,
    errors: ["not_found", "invalid_transition", "channel_failed"],
    budgetMs: PLATFORM_MS,
  }),
  "channel.remove": defineOperation({
    ...operator,
    name: "channel.remove",
    summary: "Disconnect a chat platform: its token is forgotten, its threads are unbound, what waits is dropped.",
    method: "POST",
    path: "/channels/{name}/remove",
    effect: "destructive",
    input: byChannel,
    output: Ok,
    errors: ["not_found", "invalid_transition"],
    budgetMs: PLATFORM_MS,
  }),
  "channel.remove_person": defineOperation({
    ...operator,
    name: "channel.remove_person",
    summary: "Take somebody off a channel's list, from now on.",
    method: "POST",
    path: "/channels/{name}/people/remove",
    effect: "destructive",
    input: byChannel.extend({ person_id: AnyId }),
    output: Ok,
    errors: ["not_found", "invalid_transition"],
  }),
} as const;
