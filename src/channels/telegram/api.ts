/** Calls of Telegram's Bot API, each with its time limit, each failure in our words. grammY is loaded when the first channel starts. */
import type { Api, GrammyError, HttpError, RawApi } from "grammy";
import type { Update, UserFromGetMe } from "grammy/types";
import { ChannelFailed } from "../../hub/channel-port.ts";
import type { Keyboard, TelegramMessage } from "./card-html.ts";
import { refused, unreached } from "./failures.ts";

export type ApiOptions = {
  readonly token: string;
  readonly apiRoot: string | undefined;
  readonly callMs: number;
};

export type Place = { readonly chat_id: number; readonly message_thread_id?: number };

/** What is needed of the package once it is loaded. */
type Grammy = {
  readonly Api: typeof Api;
  readonly GrammyError: typeof GrammyError;
  readonly HttpError: typeof HttpError;
};
type Signal = Parameters<RawApi["getMe"]>[0];

const TOKEN = /^\d+:[\w-]+$/;
const UPDATES = ["message", "callback_query"] as const;

export class TelegramApi {
  readonly #grammy: Grammy;
  readonly #api: Api;
  readonly #callMs: number;
  readonly #closing = new AbortController();

  private constructor(grammy: Grammy, { token, apiRoot, callMs }: ApiOptions) {
    this.#grammy = grammy;
    this.#callMs = callMs;
    this.#api = new grammy.Api(token, apiRoot === undefined ? {} : { apiRoot: apiRoot.replace(/\/+$/, "") });
  }

  static async open(options: ApiOptions): Promise<TelegramApi> {
    // It becomes part of an address.
    if (!TOKEN.test(options.token)) throw new ChannelFailed("this isn't a token of a Telegram bot", "never");
    return new TelegramApi(await import("grammy"), options);
  }

  me(): Promise<UserFromGetMe> {
    return this.#call((api, signal) => api.getMe(signal));
  }

  /** Waits at Telegram for up to `waitSeconds`. All before `offset` is acknowledged by it. */
  updates(offset: number, waitSeconds: number, signal?: AbortSignal): Promise<Update[]> {
    const payload = { offset, timeout: waitSeconds, allowed_updates: UPDATES };
    return this.#call((api, it) => api.getUpdates(payload, it), {
      limitMs: this.#callMs + waitSeconds * 1000,
      signal,
    });
  }

  async send(place: Place, { html, keyboard }: TelegramMessage): Promise<number> {
    const payload = { ...place, ...shown(html), ...(keyboard.length === 0 ? {} : { reply_markup: markup(keyboard) }) };
    return (await this.#call((api, signal) => api.sendMessage(payload, signal))).message_id;
  }

  /** Plain text, tied to a message of a person; to the thread if that is gone. */
  async reply(place: Place, messageId: number, text: string): Promise<void> {
    const payload = {
      ...place,
      text,
      link_preview_options: { is_disabled: true },
      reply_parameters: { message_id: messageId, allow_sending_without_reply: true },
    };
    await this.#call((api, signal) => api.sendMessage(payload, signal));
  }

  /** A keyboard without rows takes the old one away. */
  async edit(chatId: number, messageId: number, { html, keyboard }: TelegramMessage): Promise<void> {
    const payload = { chat_id: chatId, message_id: messageId, ...shown(html), reply_markup: markup(keyboard) };
    await this.#call((api, signal) => api.editMessageText(payload, signal));
  }

  async remove(chatId: number, messageId: number): Promise<void> {
    await this.#call((api, signal) => api.deleteMessage({ chat_id: chatId, message_id: messageId }, signal));
  }

  async answerPress(queryId: string, text: string | undefined): Promise<void> {
    const payload = { callback_query_id: queryId, ...(text === undefined ? {} : { text }) };
    await this.#call((api, signal) => api.answerCallbackQuery(payload, signal));
  }

  /** Ends what is under way. */
  close(): void {
    this.#closing.abort();
  }

  async #call<T>(
    ask: (api: RawApi, signal: Signal) => Promise<T>,
    { limitMs = this.#callMs, signal }: { readonly limitMs?: number; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<T> {
    const late = AbortSignal.timeout(limitMs);
    const ended = AbortSignal.any([this.#closing.signal, late, ...(signal === undefined ? [] : [signal])]);
    try {
      // grammY's own type of a signal is that of an old package; it only listens to it.
      return await ask(this.#api.raw, ended as unknown as Signal);
    } catch (error) {
      throw this.#failureOf(error, late.aborted);
    }
  }

  #failureOf(error: unknown, timedOut: boolean): Error {
    if (error instanceof this.#grammy.GrammyError) return refused(error);
    if (error instanceof this.#grammy.HttpError) return unreached(error, timedOut);
    return new Error("a call of Telegram could not be made");
  }
}

function shown(html: string) {
  // A preview would fetch what is only meant for the reader.
  return { text: html, parse_mode: "HTML" as const, link_preview_options: { is_disabled: true } };
}

function markup(keyboard: Keyboard) {
  return { inline_keyboard: keyboard.map((row) => [...row]) };
}
