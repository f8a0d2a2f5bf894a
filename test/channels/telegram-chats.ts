/** The messages in Telegram's chats, and what it refuses to show. */
import { HtmlRefused, readHtml } from "./telegram-html.ts";

export class Refused extends Error {
  readonly status: number;

  constructor(status: number, description: string) {
    super(description);
    this.status = status;
  }
}

export type Person = { readonly id: string; readonly name: string };

export type ShownButton = { readonly label: string; readonly action?: string; readonly url?: string };

export type ShownMessage = {
  readonly ref: string;
  /** The person's name; `bot` if it is ours. */
  readonly by: string;
  /** As a reader sees it, without markup. */
  readonly text: string;
  readonly html: string;
  /** What is set apart: `<pre>`, `<b>`, … */
  readonly marked: readonly { readonly tag: string; readonly text: string }[];
  readonly buttons: readonly (readonly ShownButton[])[];
  readonly replyTo?: string;
};

type Kept = ShownMessage & { readonly threadId: string; readonly markup: string };
type Markup = { inline_keyboard: { text: string; callback_data?: string; url?: string }[][] };

/** Of all calls together. */
export type Payload = {
  readonly chat_id?: number;
  readonly message_id?: number;
  readonly message_thread_id?: number;
  readonly text?: string;
  readonly parse_mode?: string;
  readonly reply_markup?: Markup;
  readonly reply_parameters?: { readonly message_id?: number; readonly allow_sending_without_reply?: boolean };
  readonly callback_query_id?: string;
};

const TEXT_MAX = 4096;

export class TelegramChats {
  readonly #botName: string;
  readonly #messages = new Map<string, Kept>();
  #nextId = 1;

  constructor(botName: string) {
    this.#botName = botName;
  }

  shown(threadId: string): readonly ShownMessage[] {
    return [...this.#messages.values()]
      .filter((it) => it.threadId === threadId)
      .map(({ ref, by, text, html, marked, buttons, replyTo }) => {
        const message = { ref, by, text, html, marked, buttons };
        return replyTo === undefined ? message : { ...message, replyTo };
      });
  }

  /** A person's message, as an update tells it. */
  write(threadId: string, person: Person, text: string) {
    const kept = this.#keep({ threadId, by: person.name, text, html: text, marked: [], buttons: [], markup: "" });
    return { ...place(kept), from: { id: Number(person.id), is_bot: false, first_name: person.name }, text };
  }

  buttonOf(messageId: string, label: string): { message: object; action: string } {
    const message = this.#messages.get(messageId);
    const button = message?.buttons.flat().find((it) => it.label === label);
    if (message === undefined || button?.action === undefined) throw new Error(`no button ${label} on ${messageId}`);
    const from = { id: 1, is_bot: true, first_name: "Sidestick", username: this.#botName };
    return { message: { ...place(message), from, text: message.text }, action: button.action };
  }

  send(payload: Payload): object {
    const { chat_id: chat, message_thread_id: topic, reply_parameters: reply } = payload;
    const threadId = topic === undefined ? String(chat) : `${chat}/${topic}`;
    const { message_id: to, allow_sending_without_reply: anyway } = reply ?? {};
    const answered = to === undefined ? undefined : this.#messages.get(String(to));
    if (to !== undefined && answered === undefined && anyway !== true) {
      throw new Refused(400, "Bad Request: message to be replied not found");
    }
    const replyTo = answered === undefined ? {} : { replyTo: answered.ref };
    return place(this.#keep({ threadId, by: "bot", ...contentOf(payload), ...replyTo }));
  }

  edit(payload: Payload): object {
    const before = this.#own(payload, "edit");
    const content = contentOf(payload);
    if (before.html === content.html && before.markup === content.markup) {
      throw new Refused(
        400,
        "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
      );
    }
    return this.#change({ ...before, ...content });
  }

  editMarkup(payload: Payload): object {
    const before = this.#own(payload, "edit");
    return this.#change({ ...before, ...markupOf(payload) });
  }

  remove({ message_id: id }: Payload): true {
    if (!this.#messages.delete(String(id))) throw new Refused(400, "Bad Request: message to delete not found");
    return true;
  }

  #own({ chat_id: chat, message_id: id }: Payload, what: string): Kept {
    const message = this.#messages.get(String(id));
    if (message === undefined || message.threadId.split("/")[0] !== String(chat)) {
      throw new Refused(400, `Bad Request: message to ${what} not found`);
    }
    if (message.by !== "bot") throw new Refused(400, "Bad Request: message can't be edited");
    return message;
  }

  #keep(message: Omit<Kept, "ref">): Kept {
    const kept = { ref: String(this.#nextId), ...message };
    this.#nextId += 1;
    this.#messages.set(kept.ref, kept);
    return kept;
  }

  #change(message: Kept): object {
    this.#messages.set(message.ref, message);
    return place(message);
  }
}

function place({ ref, threadId }: Kept) {
  const [chat = "", topic] = threadId.split("/");
  const type = chat.startsWith("-") ? "supergroup" : "private";
  return {
    message_id: Number(ref),
    date: 1_900_000_000,
    chat: { id: Number(chat), type },
    ...(topic === undefined ? {} : { message_thread_id: Number(topic), is_topic_message: true }),
  };
}

function contentOf(payload: Payload): Pick<Kept, "text" | "html" | "marked" | "buttons" | "markup"> {
  const html = payload.text ?? "";
  const { text, marked } = payload.parse_mode === "HTML" ? read(html) : { text: html, marked: [] };
  if (!html.isWellFormed()) throw new Refused(400, "Bad Request: text must be encoded in UTF-8");
  if (text.trim() === "") throw new Refused(400, "Bad Request: message text is empty");
  if (text.length > TEXT_MAX) throw new Refused(400, "Bad Request: message is too long");
  return { text, html, marked, ...markupOf(payload) };
}

function read(html: string) {
  try {
    return readHtml(html);
  } catch (error) {
    if (!(error instanceof HtmlRefused)) throw error;
    throw new Refused(400, `Bad Request: ${error.message}`);
  }
}

function markupOf({ reply_markup: markup }: Payload): Pick<Kept, "buttons" | "markup"> {
  const rows = markup?.inline_keyboard ?? [];
  if (rows.flat().length > 100 || rows.some((row) => row.length > 8)) {
    throw new Refused(400, "Bad Request: REPLY_MARKUP_TOO_LONG");
  }
  const buttons = rows.map((row) =>
    row.map(({ text: label, callback_data: action, url }): ShownButton => {
      if (label === "") throw new Refused(400, "Bad Request: inline keyboard button text must be non-empty");
      if (url !== undefined) return { label, url: checkedUrl(url) };
      const bytes = Buffer.byteLength(action ?? "");
      if (bytes === 0 || bytes > 64) throw new Refused(400, "Bad Request: BUTTON_DATA_INVALID");
      return { label, action: action ?? "" };
    }),
  );
  return { buttons, markup: JSON.stringify(rows) };
}

function checkedUrl(url: string): string {
  if (URL.parse(url)?.hostname.includes(".") === true) return url;
  throw new Refused(400, `Bad Request: inline keyboard button URL '${url}' is invalid: Wrong HTTP URL`);
}
