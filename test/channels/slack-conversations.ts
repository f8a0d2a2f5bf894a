/** Slack's conversations in memory: what is posted, changed and deleted there, as people see it. */
import { checkMessage, unescape, type ShownBlock } from "./slack-rules.ts";

export type Shown = {
  readonly ts: string;
  readonly threadTs?: string | undefined;
  readonly by: string;
  /** Only this person sees it. */
  readonly onlyFor?: string | undefined;
  /** As it is read, line by line: no entities, no backticks around code. */
  readonly title?: string | undefined;
  readonly text: string;
  readonly code?: string | undefined;
  readonly facts: readonly string[];
  readonly notes: readonly string[];
  readonly buttons: readonly (readonly string[])[];
  readonly link?: { readonly label: string; readonly url: string } | undefined;
  /** In notifications. */
  readonly fallback: string;
  readonly blocks: readonly ShownBlock[];
};

export type Kept = { readonly channel: string; readonly message: Shown };
export type Answer = Readonly<Record<string, unknown>> & { readonly ok: boolean };

type Where = { readonly ts: string; readonly by: string };

export class SlackConversations {
  readonly bot: string;
  readonly #kept: Kept[] = [];
  /** Ahead of ours, as a platform's may be. */
  #clock = 1_900_000_000;

  constructor(bot: string) {
    this.bot = bot;
  }

  nextTs(): string {
    this.#clock += 1;
    return `${this.#clock}.000100`;
  }

  shown(channel: string): Shown[] {
    return this.#kept.filter((it) => it.channel === channel).map(({ message }) => message);
  }

  find(ts: string): Kept | undefined {
    return this.#kept.find(({ message }) => message.ts === ts);
  }

  add(channel: string, message: Shown): void {
    this.#kept.push({ channel, message });
  }

  post(form: URLSearchParams, onlyFor?: string): Answer {
    const channel = form.get("channel") ?? "";
    if (!/^[CDG]\w+$/u.test(channel)) return { ok: false, error: "channel_not_found" };
    const ts = this.nextTs();
    const message = read(form, { ts, by: this.bot });
    if ("ok" in message) return message;
    this.add(channel, { ...message, threadTs: form.get("thread_ts") ?? undefined, onlyFor });
    return onlyFor === undefined ? { ok: true, channel, ts } : { ok: true, message_ts: ts };
  }

  update(form: URLSearchParams): Answer {
    const at = this.#ours(form);
    if (typeof at === "string") return { ok: false, error: at === "foreign" ? "cant_update_message" : at };
    const { channel, message: before } = at;
    const message = read(form, { ts: before.ts, by: this.bot });
    if ("ok" in message) return message;
    this.#kept[this.#kept.indexOf(at)] = { channel, message: { ...message, threadTs: before.threadTs } };
    return { ok: true, channel, ts: before.ts };
  }

  delete(form: URLSearchParams): Answer {
    const at = this.#ours(form);
    if (typeof at === "string") return { ok: false, error: at === "foreign" ? "cant_delete_message" : at };
    this.#kept.splice(this.#kept.indexOf(at), 1);
    return { ok: true, channel: at.channel, ts: at.message.ts };
  }

  #ours(form: URLSearchParams): Kept | "message_not_found" | "foreign" {
    const kept = this.find(form.get("ts") ?? "");
    if (kept === undefined || kept.channel !== form.get("channel") || kept.message.onlyFor !== undefined) {
      return "message_not_found";
    }
    return kept.message.by === this.bot ? kept : "foreign";
  }
}

function read(form: URLSearchParams, where: Where): Shown | Answer {
  const checked = checkMessage(form);
  if (!checked.ok) return { ok: false, error: checked.error, response_metadata: { messages: checked.messages } };
  const { blocks, text } = checked;
  const sections = blocks.flatMap((it) => (it.type === "section" && "text" in it ? [wordsOf(it.text)] : []));
  const code = sections.filter((it) => it.startsWith("```"));
  const rows = blocks.flatMap((it) => (it.type === "actions" ? [it.elements] : []));
  const link = rows.flat().find(({ url }) => url !== undefined);
  return {
    ...where,
    title: blocks.flatMap((it) => (it.type === "header" ? [it.text.text] : []))[0],
    text: sections.filter((it) => !it.startsWith("```")).join("\n"),
    code: code.length === 0 ? undefined : code.map((it) => it.slice(4, -4)).join("\n"),
    facts: blocks.flatMap((it) => (it.type === "section" && "fields" in it ? it.fields.map(wordsOf) : [])),
    notes: blocks.flatMap((it) => (it.type === "context" ? it.elements.map(wordsOf) : [])),
    buttons: rows.filter((row) => row[0] !== link).map((row) => row.map((it) => it.text.text)),
    link: link?.url === undefined ? undefined : { label: link.text.text, url: link.url },
    fallback: unescape(text),
    blocks,
  };
}

function wordsOf(text: { readonly type: string; readonly text: string }): string {
  return text.type === "mrkdwn" ? unescape(text.text) : text.text;
}
