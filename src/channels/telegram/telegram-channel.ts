/**
 * Telegram by long polling: nothing has to reach us from outside. Threads are `chat` or `chat/topic`. It shows and tells, and decides
 * nothing. Rules CHN-40..CHN-69 in docs/spec/channels.md.
 */
import type { Update } from "grammy/types";
import type { Card } from "../../domain/channels/card.ts";
import { ChannelFailed } from "../../hub/channel-port.ts";
import type { Channel, ChannelHealth, Incoming, MessageRef, Reaction, Receive } from "../../hub/channel-port.ts";
import type { Logger } from "../../lib/logger.ts";
import { TelegramApi } from "./api.ts";
import type { Place } from "./api.ts";
import { arrivalOf, placeOf } from "./arrivals.ts";
import type { Arrival } from "./arrivals.ts";
import { HTML_MAX, telegramMessage } from "./card-html.ts";
import { TelegramFailed } from "./failures.ts";
import { cleanText, cutText } from "./html-text.ts";
import { pause, Pauses } from "./pauses.ts";
import { Poller } from "./poller.ts";

export type TelegramTiming = {
  /** How long one look for updates waits at Telegram. */
  readonly waitSeconds: number;
  /** How long a call may take, beyond that. */
  readonly callMs: number;
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
};

export type TelegramOptions = {
  readonly name?: string | undefined;
  readonly token: string;
  /** Of a Bot API server of one's own. */
  readonly apiRoot?: string | undefined;
  readonly logger: Logger;
  readonly timing?: TelegramTiming | undefined;
};

const TIMING: TelegramTiming = { waitSeconds: 50, callMs: 20_000, retryMinMs: 1_000, retryMaxMs: 60_000 };
const PRESS_NOTICE_MAX = 200;
const RECEIVE_ATTEMPTS = 5;
const REACT_ATTEMPTS = 3;
/** A reaction that comes later than this tells nobody anything. */
const REACT_PAUSE_MAX_MS = 10_000;

type Started = {
  readonly api: TelegramApi;
  readonly botName: string;
  readonly receive: Receive;
  readonly poller: Poller;
};

export class TelegramChannel implements Channel {
  readonly name: string;
  readonly #options: TelegramOptions;
  readonly #timing: TelegramTiming;
  readonly #closing = new AbortController();
  #health: ChannelHealth = { state: "connecting" };
  #started: Started | undefined;

  constructor(options: TelegramOptions) {
    this.name = options.name ?? "telegram";
    this.#options = options;
    this.#timing = options.timing ?? TIMING;
  }

  get health(): ChannelHealth {
    return this.#health;
  }

  async start(receive: Receive): Promise<string> {
    if (this.#started !== undefined || this.#closing.signal.aborted) throw new Error("a channel starts once");
    const { api, botName } = await this.#opened();
    if (this.#closing.signal.aborted) {
      // Nobody would end this reader any more, and Telegram lets in one alone.
      api.close();
      throw new ChannelFailed("the channel was closed", "never");
    }
    const poller = this.#pollerOf(api);
    this.#started = { api, botName, receive, poller };
    poller.start();
    return `@${botName}`;
  }

  async send(threadId: string, card: Card): Promise<MessageRef> {
    const place = checkedPlace(threadId);
    return String(await this.#calling((api) => api.send(place, telegramMessage(card))));
  }

  async edit(threadId: string, ref: MessageRef, card: Card): Promise<void> {
    const { chat_id: chatId } = checkedPlace(threadId);
    try {
      await this.#calling((api) => api.edit(chatId, checkedRef(ref), telegramMessage(card)));
    } catch (error) {
      if (!(error instanceof TelegramFailed && /message is not modified/i.test(error.description))) throw error;
    }
  }

  async remove(threadId: string, ref: MessageRef): Promise<boolean> {
    const { chat_id: chatId } = checkedPlace(threadId);
    try {
      await this.#calling((api) => api.remove(chatId, checkedRef(ref)));
      return true;
    } catch (error) {
      if (!(error instanceof TelegramFailed && (error.status === 400 || error.status === 403))) throw error;
      if (/message to delete not found/i.test(error.description)) return true;
      this.#options.logger.warn("a message of a chat could not be removed", this.#fields(error));
      return false;
    }
  }

  /** Groups and channels have negative numbers; a person's chat with us has that person's. */
  isPrivate(threadId: string): boolean {
    return !threadId.startsWith("-");
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    await this.#started?.poller.stop();
    this.#started?.api.close();
    this.#health = { state: "connecting", detail: "closed" };
  }

  async #opened(): Promise<Pick<Started, "api" | "botName">> {
    const { token, apiRoot } = this.#options;
    try {
      const api = await TelegramApi.open({ token, apiRoot, callMs: this.#timing.callMs });
      const { username: botName } = await api.me();
      return { api, botName };
    } catch (error) {
      this.#tell(error);
      throw error;
    }
  }

  #pollerOf(api: TelegramApi): Poller {
    const { waitSeconds, retryMinMs, retryMaxMs } = this.#timing;
    return new Poller({
      read: (offset, seconds, signal) => api.updates(offset, seconds, signal),
      handle: (update) => this.#handle(update),
      tell: (failure) => this.#tell(failure),
      waitSeconds,
      pauses: new Pauses(retryMinMs, retryMaxMs),
    });
  }

  async #calling<T>(call: (api: TelegramApi) => Promise<T>): Promise<T> {
    if (this.#started === undefined || this.#closing.signal.aborted) {
      throw new ChannelFailed("the channel isn't connected", "later");
    }
    try {
      return await call(this.#started.api);
    } catch (error) {
      if (error instanceof TelegramFailed && isBadToken(error)) this.#tell(error);
      throw error;
    }
  }

  #tell(failure: unknown): void {
    const before = this.#health;
    this.#health = healthAfter(failure);
    if (failure === undefined || before.detail === this.#health.detail) return;
    this.#options.logger.warn("a channel has trouble", { channel: this.name, detail: this.#health.detail });
  }

  async #handle(update: Update): Promise<boolean> {
    const { botName, receive } = this.#started!;
    const arrival = arrivalOf(update, botName);
    const reaction = arrival.incoming === undefined ? {} : await this.#received(receive, arrival.incoming);
    if (reaction === undefined) return false;
    await this.#react(arrival, reaction.notice);
    return true;
  }

  /** Tried again a few times, as it would be after a restart; undefined if we are closed before it went well. */
  async #received(receive: Receive, incoming: Incoming): Promise<Reaction | undefined> {
    const pauses = new Pauses(this.#timing.retryMinMs, this.#timing.retryMaxMs);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await receive(incoming);
      } catch (error) {
        if (this.#closing.signal.aborted) return undefined;
        this.#options.logger.error("what came from a chat could not be dealt with", {
          ...this.#fields(error),
          attempt,
        });
        // Who may know that something failed is not for us to decide: it ends without words.
        if (attempt === RECEIVE_ATTEMPTS) return {};
        await pause(pauses.nextMs(), this.#closing.signal);
        if (this.#closing.signal.aborted) return undefined;
      }
    }
  }

  async #react(arrival: Arrival, notice: string | undefined): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#reactOnce(arrival, notice);
      } catch (error) {
        const later = error instanceof ChannelFailed && error.again === "later" ? error : undefined;
        const waitMs = Math.max(this.#timing.retryMinMs, later?.retryAfterMs ?? 0);
        if (later === undefined || attempt === REACT_ATTEMPTS || waitMs > REACT_PAUSE_MAX_MS) {
          return this.#options.logger.warn("a person in a chat could not be told", this.#fields(error));
        }
        await pause(waitMs, this.#closing.signal);
      }
    }
  }

  async #reactOnce({ incoming, queryId }: Arrival, notice: string | undefined): Promise<void> {
    const { api } = this.#started!;
    const text = notice === undefined || notice.trim() === "" ? undefined : cleanText(notice);
    if (queryId !== undefined) {
      return api.answerPress(queryId, text === undefined ? undefined : cutText(text, PRESS_NOTICE_MAX));
    }
    if (incoming === undefined || text === undefined) return;
    await api.reply(checkedPlace(incoming.threadId), checkedRef(incoming.ref), cutText(text, HTML_MAX));
  }

  #fields(error: unknown): { channel: string; reason: string } {
    // An error of ours has safe words; of any other only its kind is known to be safe.
    const reason = error instanceof ChannelFailed ? error.message : error instanceof Error ? error.name : typeof error;
    return { channel: this.name, reason };
  }
}

function healthAfter(failure: unknown): ChannelHealth {
  if (failure === undefined) return { state: "up" };
  const detail = failure instanceof ChannelFailed ? failure.message : "something failed here";
  const lasting = failure instanceof ChannelFailed && failure.again === "never";
  const contested = failure instanceof TelegramFailed && failure.status === 409;
  return { state: lasting || contested ? "failed" : "connecting", detail };
}

function isBadToken({ status }: TelegramFailed): boolean {
  return status === 401 || status === 404;
}

function checkedPlace(threadId: string): Place {
  const place = placeOf(threadId);
  if (place === undefined) throw new ChannelFailed("this isn't a thread of Telegram", "never");
  return place;
}

function checkedRef(ref: MessageRef): number {
  if (!/^\d{1,15}$/.test(ref)) throw new ChannelFailed("this isn't a message of Telegram", "never");
  return Number(ref);
}
