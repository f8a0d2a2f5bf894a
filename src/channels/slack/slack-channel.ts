/**
 * Slack as a channel: messages by its Web API, people's words and presses by Socket Mode, so no address of ours has to be reachable.
 * Nothing is tried twice here: that is for whoever keeps the order. Rules CHN-70..CHN-92 in docs/spec/channels.md.
 */
import type { WebClient, WebClientOptions } from "@slack/web-api";
import { z } from "zod";
import type { Card } from "../../domain/channels/card.ts";
import {
  type Channel,
  ChannelFailed,
  type ChannelHealth,
  type Incoming,
  type MessageRef,
  type Receive,
} from "../../hub/channel-port.ts";
import type { Logger } from "../../lib/logger.ts";
import { slackMessage } from "./blocks.ts";
import { SlackConnection } from "./connection.ts";
import { failureOf, type SlackFailure } from "./failures.ts";
import { type Envelope, incomingOf, isDirect, type OurPlace } from "./incoming.ts";
import { PeopleNames } from "./people-names.ts";
import { quietLog } from "./quiet-log.ts";

export type SlackOptions = {
  readonly name: string;
  readonly botToken: string;
  /** Of the app, for the socket. */
  readonly appToken: string;
  readonly apiRoot?: string | undefined;
  /** Which threads of Slack's channels talk to a session: elsewhere only those who mention us mean us. */
  readonly isBound: (threadId: string) => boolean;
  readonly logger: Logger;
  readonly callMs?: number | undefined;
  readonly retryMs?: number | undefined;
  readonly nameMs?: number | undefined;
};

type Arguments = Readonly<Record<string, unknown>>;
type Called = { readonly ok: true; readonly answer: unknown } | ({ readonly ok: false } & SlackFailure);

const CALL_MS = 10_000;
const RETRY_MS = 1_000;
/** A name is worth waiting for, but not long: an answer to a question may hang on it. */
export const NAME_MS = 2_000;
/** People's own can't be removed by us. */
const STAYS = new Set(["cant_delete_message", "compliance_exports_prevent_deletion"]);
const GONE = "message_not_found";

const Bot = z.object({ user: z.string().min(1), user_id: z.string().regex(/^[A-Z\d]+$/u) });
const Posted = z.object({ ts: z.string().min(1) });
const Person = z.object({
  user: z.object({
    name: z.string().optional(),
    profile: z.object({ display_name: z.string(), real_name: z.string() }).partial(),
  }),
});

export class SlackChannel implements Channel {
  readonly name: string;
  readonly #options: SlackOptions;
  readonly #ending = new AbortController();
  readonly #names = new PeopleNames((userId) => this.#askName(userId));
  #web: WebClient | undefined;
  #connection: SlackConnection | undefined;
  #refused: string | undefined;

  constructor(options: SlackOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get health(): ChannelHealth {
    if (this.#refused !== undefined) return { state: "failed", detail: this.#refused };
    return this.#connection?.health ?? { state: "connecting" };
  }

  async start(receive: Receive): Promise<string> {
    const { LogLevel, WebClient } = await import("@slack/web-api");
    const log = quietLog(this.#options.logger, [this.#options.botToken, this.#options.appToken], LogLevel.ERROR);
    this.#web = new WebClient(this.#options.botToken, { ...this.#calls(), logger: log });
    const bot = read(Bot, "auth.test", await this.#call("auth.test"));
    const ours = { botId: bot.user_id, isBound: this.#options.isBound };
    this.#connection = new SlackConnection({
      socket: { appToken: this.#options.appToken, logger: log, clientOptions: this.#calls() },
      logger: this.#options.logger,
      receive: (envelope) => void this.#arrived(envelope, ours, receive),
      retryMs: this.#options.retryMs ?? RETRY_MS,
      ending: this.#ending.signal,
    });
    await this.#connection.open();
    return `@${bot.user}`;
  }

  async send(threadId: string, card: Card): Promise<MessageRef> {
    const posted = await this.#post("chat.postMessage", threadId, card);
    return read(Posted, "chat.postMessage", posted).ts;
  }

  async edit(threadId: string, ref: MessageRef, card: Card): Promise<void> {
    await this.#call("chat.update", { channel: placeOf(threadId).channel, ts: ref, ...slackMessage(card) });
  }

  async remove(threadId: string, ref: MessageRef): Promise<boolean> {
    const called = await this.#try("chat.delete", { channel: placeOf(threadId).channel, ts: ref });
    if (called.ok || called.code === GONE) return true;
    if (STAYS.has(called.code ?? "")) return false;
    throw called.failed;
  }

  isPrivate(threadId: string): boolean {
    return isDirect(threadId);
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#connection?.close();
  }

  async #arrived(envelope: Envelope, ours: OurPlace, receive: Receive): Promise<void> {
    try {
      const incoming = incomingOf(envelope, ours);
      if (incoming === undefined) return;
      const { id, name } = incoming.user;
      const user = { id, name: await this.#names.of(id, name) };
      if (this.#ending.signal.aborted) return;
      const { notice } = await receive({ ...incoming, user });
      if (notice !== undefined) await this.#tell(incoming, notice);
    } catch (error) {
      // Its message may hold what the person wrote.
      const name = error instanceof ChannelFailed ? error.message : error instanceof Error ? error.name : typeof error;
      if (!this.#ending.signal.aborted) this.#options.logger.warn("slack delivery failed", { error: name });
    }
  }

  async #tell({ threadId, user }: Incoming, notice: string): Promise<void> {
    const card: Card = { kind: "notice", text: notice, buttons: [] };
    if (isDirect(threadId)) await this.#post("chat.postMessage", threadId, card);
    else await this.#post("chat.postEphemeral", threadId, card, { user: user.id });
  }

  #post(method: string, threadId: string, card: Card, more: Arguments = {}): Promise<unknown> {
    // No previews: Slack would fetch whatever address a program prints.
    const still = { unfurl_links: false, unfurl_media: false };
    return this.#call(method, { ...placeOf(threadId), ...slackMessage(card), ...still, ...more });
  }

  async #askName(userId: string): Promise<string | undefined> {
    const late = new Promise<never>((_, reject) => {
      const error = new ChannelFailed("Slack is slow (users.info)", "later");
      setTimeout(() => reject(error), this.#options.nameMs ?? NAME_MS).unref();
    });
    const called = await Promise.race([this.#try("users.info", { user: userId }), late]);
    if (!called.ok) {
      if (called.failed.again === "later") throw called.failed;
      return undefined;
    }
    const { profile, name } = read(Person, "users.info", called.answer).user;
    return profile.display_name || profile.real_name || name;
  }

  async #call(method: string, args: Arguments = {}): Promise<unknown> {
    const called = await this.#try(method, args);
    if (!called.ok) throw called.failed;
    return called.answer;
  }

  async #try(method: string, args: Arguments): Promise<Called> {
    try {
      if (this.#web === undefined) throw new ChannelFailed("Slack is not started", "later");
      const answer = await this.#web.apiCall(method, args);
      this.#refused = undefined;
      return { ok: true, answer };
    } catch (error) {
      const failure = failureOf(method, error);
      if (failure.refused) this.#refused = failure.failed.message;
      return { ok: false, ...failure };
    }
  }

  #calls(): WebClientOptions {
    const { apiRoot, callMs = CALL_MS } = this.#options;
    return {
      ...(apiRoot === undefined ? {} : { slackApiUrl: apiRoot }),
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      allowAbsoluteUrls: false,
      timeout: callMs,
      fetch: (url, init) => {
        const signals = [this.#ending.signal, ...(init?.signal ? [init.signal] : [])];
        return fetch(url, { ...init, signal: AbortSignal.any(signals) });
      },
    };
  }
}

function placeOf(threadId: string): { readonly channel: string; readonly thread_ts?: string } {
  const [channel = threadId, parent] = threadId.split("/");
  return parent === undefined ? { channel } : { channel, thread_ts: parent };
}

function read<T>(shape: z.ZodType<T>, method: string, answer: unknown): T {
  const parsed = shape.safeParse(answer);
  if (!parsed.success) throw new ChannelFailed(`Slack's answer to ${method} couldn't be read`, "later");
  return parsed.data;
}
