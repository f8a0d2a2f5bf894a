/**
 * Telegram in the hand of a test: its Bot API over HTTP on loopback, as strict as the real one, and the people in its chats. A
 * thread is named as the channel names it: `chat` or `chat/topic`; a person's private chat has the person's id.
 */
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as bodyOf } from "node:stream/consumers";
import { Refused, TelegramChats } from "./telegram-chats.ts";
import type { Payload, Person, ShownMessage } from "./telegram-chats.ts";
import { TelegramUpdates } from "./telegram-updates.ts";

export type Fault =
  /** From 500 on without a description: the page of a proxy. */
  | { readonly status: number; readonly description?: string; readonly retryAfter?: number }
  /** `silent` never answers; `reset` breaks off; `lost` does it, then breaks off. */
  | "silent"
  | "reset"
  | "lost";

export const TELEGRAM_TOKEN = "4839574812:AAFD39kkdpWt3ywyRZergyOLMaJhac60qcK";
export const BOT_NAME = "sidestick_test_bot";

export class TelegramServer implements AsyncDisposable {
  readonly url: string;
  readonly token = TELEGRAM_TOKEN;
  /** All calls but those for updates, in order. */
  readonly calls: { readonly method: string; readonly payload: Payload }[] = [];
  readonly updates = new TelegramUpdates();
  readonly #chats = new TelegramChats(BOT_NAME);
  readonly #http: ReturnType<typeof createServer>;
  readonly #faults: { readonly methods: readonly string[]; readonly fault: Fault; readonly lasting: boolean }[] = [];
  readonly #presses = new Map<string, (notice: string) => void>();
  #revoked = false;

  private constructor(http: ReturnType<typeof createServer>) {
    this.#http = http;
    this.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    http.on("request", (request: IncomingMessage, response: ServerResponse) => void this.#serve(request, response));
  }

  static async start(): Promise<TelegramServer> {
    const http = createServer();
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    return new TelegramServer(http);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.updates.close();
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  /** Answers the message's id. `more` overrides what the message says of itself. */
  says(person: Person, text: string, threadId = person.id, more: object = {}): string {
    const message = { ...this.#chats.write(threadId, person, text), ...more };
    this.updates.add({ message });
    return String(message.message_id);
  }

  /** Answers what the person is shown then; empty if there were no words. */
  presses(person: Person, messageId: string, label: string): Promise<string> {
    const { message, action } = this.#chats.buttonOf(messageId, label);
    return this.#press(person, { message, data: action });
  }

  /** On a message that no chat of ours holds. */
  pressesInline(person: Person): Promise<string> {
    return this.#press(person, { inline_message_id: "i1", data: "x" });
  }

  /** What stands in a thread, oldest first, people's messages too. */
  shown(threadId: string): readonly ShownMessage[] {
    return this.#chats.shown(threadId);
  }

  /** The next call of these methods goes wrong; with `lasting`, all until `heal`. */
  fail(methods: readonly string[], fault: Fault, { lasting = false }: { readonly lasting?: boolean } = {}): void {
    this.#faults.push({ methods, fault, lasting });
  }

  heal(): void {
    this.#faults.length = 0;
    this.#revoked = false;
  }

  /** From now on the token is unknown. */
  revoke(): void {
    this.#revoked = true;
    this.updates.interrupt(401, "Unauthorized");
  }

  #press(person: Person, what: object): Promise<string> {
    const id = `q${this.#presses.size + 1}`;
    const from = { id: Number(person.id), is_bot: false, first_name: person.name };
    return new Promise((resolve) => {
      this.#presses.set(id, resolve);
      this.updates.add({ callback_query: { id, from, chat_instance: "1", ...what } });
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, token, method = ""] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? "") ?? [];
    try {
      const raw = await bodyOf(request);
      if (token !== this.token || this.#revoked) throw new Refused(401, "Unauthorized");
      const payload = raw === "" ? {} : (JSON.parse(raw) as Payload);
      const fault = this.#faultOf(method);
      if (fault === "silent") return;
      if (fault === "reset") return void request.socket.destroy();
      if (typeof fault === "object") return failed(response, fault);
      const result = await this.#answer(method, payload, response);
      if (fault === "lost") return void request.socket.destroy();
      sent(response, 200, { ok: true, result });
    } catch (error) {
      if (!(error instanceof Refused)) return void request.socket.destroy();
      sent(response, error.status, { ok: false, error_code: error.status, description: error.message });
    }
  }

  #faultOf(method: string): Fault | undefined {
    const at = this.#faults.findIndex((it) => it.methods.includes(method));
    const found = this.#faults[at];
    if (found !== undefined && !found.lasting) this.#faults.splice(at, 1);
    return found?.fault;
  }

  #answer(method: string, payload: Payload, response: ServerResponse): unknown {
    if (method === "getUpdates") {
      const gone = new Promise<void>((resolve) => response.on("close", resolve));
      return this.updates.read(payload, gone);
    }
    this.calls.push({ method, payload });
    switch (method) {
      case "getMe":
        return { id: 4_839_574_812, is_bot: true, first_name: "Sidestick", username: BOT_NAME };
      case "sendMessage":
        return this.#chats.send(payload);
      case "editMessageText":
        return this.#chats.edit(payload);
      case "editMessageReplyMarkup":
        return this.#chats.editMarkup(payload);
      case "deleteMessage":
        return this.#chats.remove(payload);
      case "answerCallbackQuery":
        return this.#answered(payload);
      default:
        throw new Refused(404, "Not Found");
    }
  }

  #answered({ callback_query_id: id, text = "" }: Payload): true {
    const resolve = this.#presses.get(String(id));
    if (resolve === undefined) {
      throw new Refused(400, "Bad Request: query is too old and response timeout expired or query ID is invalid");
    }
    if (text.length > 200) throw new Refused(400, "Bad Request: MESSAGE_TOO_LONG");
    resolve(text);
    return true;
  }
}

function failed(response: ServerResponse, fault: Exclude<Fault, string>): void {
  const { status, description, retryAfter } = fault;
  if (status >= 500 && description === undefined) {
    response.writeHead(status, { "content-type": "text/html" });
    response.end("<html><body>Bad Gateway</body></html>");
    return;
  }
  const parameters = retryAfter === undefined ? {} : { parameters: { retry_after: retryAfter } };
  sent(response, status, {
    ok: false,
    error_code: status,
    description: description ?? `Fault ${status}`,
    ...parameters,
  });
}

function sent(response: ServerResponse, status: number, answer: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(answer));
}
