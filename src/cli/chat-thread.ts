/**
 * The command line's thread of a chat: what the log tells of it is shown, what is written is said there as in any chat, and a secret
 * goes straight into the question that asks for it. Rules CHN-34..CHN-39 in docs/spec/channels.md.
 */
import { HubUnreachable, type SidestickClient, type WorkspaceEvent } from "../client/sidestick.ts";
import type { Card } from "../domain/channels/card.ts";
import { isDecided } from "../domain/channels/cards.ts";
import { AppError } from "../protocol/errors.ts";
import { buttonOf, cardText, isOpen, outcomeText } from "./chat-card.ts";
import { ChatLine } from "./chat-line.ts";
import { outageTeller } from "./outage.ts";
import { printableJson, printableText } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

export type ChatThreadParts = {
  readonly client: SidestickClient;
  readonly terminal: Terminal;
  readonly threadId: string;
  readonly isJson: boolean;
  /** Somebody wants us to end. */
  readonly signal: AbortSignal;
};

export type ChatEnd = "left" | "over";

type CardTold = {
  readonly kind?: string;
  readonly channel?: string;
  readonly thread_id?: string;
  readonly message_id?: string;
  readonly card?: Card;
};
type ThreadTold = {
  readonly type?: string;
  readonly channel?: string;
  readonly threadId?: string;
  readonly reason?: string;
};
type Shown = { readonly messageId: string; readonly card: Card };

const CHANNEL = "cli";
const ENDED = /^The session has ended/;
/** The last word of a session comes soon after its end, or never. */
const LAST_WORD_MS = 3_000;
const ECHO_MS = 20_000;
/** What takes power away doesn't wait for what was said before. */
const AT_ONCE = /^[/!](?:stop|interrupt|take)\b/i;

export class ChatThread {
  readonly #parts: ChatThreadParts;
  readonly #ends = new AbortController();
  readonly #open = new Map<string, Card>();
  readonly #line: ChatLine;
  /** What is said, one after the other. */
  #said: Promise<void> = Promise.resolve();
  #secret: { readonly promptId: string; readonly messageId: string } | undefined;
  /** What was told last, and by whom: the answer to a press comes as a card too. */
  /** What was said lately, by its text. */
  readonly #told = new Map<string, { readonly by: "card" | "call"; readonly at: number }>();
  #end: ChatEnd = "left";

  constructor(parts: ChatThreadParts) {
    this.#parts = parts;
    this.#line = new ChatLine(parts.terminal, {
      onLine: (line) => this.#write(line),
      onSecret: (secret) => this.#supply(secret),
      onEnd: () => this.#leave(),
    });
  }

  /** Until somebody leaves or the session is over. */
  async run(after: number): Promise<ChatEnd> {
    const { client, signal } = this.#parts;
    const ending = AbortSignal.any([signal, this.#ends.signal]);
    const wanted = { after, types: ["chat" as const, "conversation" as const], signal: ending };
    try {
      for await (const item of client.events({ ...wanted, ...outageTeller(this.#line) })) {
        if (item.type === "event") await this.#take(item.event);
      }
    } finally {
      this.#line[Symbol.dispose]();
    }
    return this.#end;
  }

  async #take({ type, payload }: WorkspaceEvent): Promise<void> {
    const { threadId, isJson } = this.#parts;
    if (type === "conversation") {
      const told = payload as ThreadTold;
      const isOurs = told.channel === CHANNEL && told.threadId === threadId;
      if (isOurs && told.type === "conversation.unbound" && told.reason === "ended") this.#over(LAST_WORD_MS);
      return;
    }
    const { kind, channel, thread_id, message_id: messageId = "", card } = payload as CardTold;
    if (kind !== "card" || channel !== CHANNEL || thread_id !== threadId || card === undefined) return;
    if (isJson) this.#line.show(printableJson(payload));
    await this.#shown({ messageId, card });
    if (card.kind === "notice" && ENDED.test(card.text)) this.#over(0);
  }

  async #shown({ messageId, card }: Shown): Promise<void> {
    const before = this.#open.get(messageId);
    if (isOpen(card)) this.#open.set(messageId, card);
    else this.#open.delete(messageId);
    if (this.#secret?.messageId === messageId && isDecided(card)) this.#endSecret();
    if (!this.#parts.isJson) this.#print(card, before);
    if (card.kind === "prompt" && isOpen(card) && card.buttons.length === 0) await this.#askSecret(messageId);
  }

  #print(card: Card, before: Card | undefined): void {
    if (card.kind === "notice") this.#tell(card.text, "card");
    else if (before === undefined && !isDecided(card)) this.#line.show(cardText(card));
    else if (isDecided(card)) this.#line.show(outcomeText(card));
  }

  /** Only what the hub says is a secret is asked for as one. */
  async #askSecret(messageId: string): Promise<void> {
    const { client, threadId } = this.#parts;
    const asked = await this.#surely(async () => {
      const { session_id } = await client.conversation.resolve({ channel: CHANNEL, thread_id: threadId });
      const pending = await client.prompt.list({ status: "pending", session_id });
      return pending.find(({ buttons }) => buttons === "secret_link");
    });
    if (asked === undefined || this.#secret?.promptId === asked.prompt_id) return;
    if (!this.#line.canAsk) {
      this.#line.note("A secret is not taken from a pipe. Give it at a terminal: sidestick answer");
      return;
    }
    this.#secret = { promptId: asked.prompt_id, messageId };
    this.#line.askSecret("Secret (not shown): ");
  }

  #endSecret(): void {
    this.#secret = undefined;
    this.#line.endSecret();
  }

  #supply(value: string): void {
    const { client } = this.#parts;
    const { promptId: prompt_id = "" } = this.#secret ?? {};
    this.#secret = undefined;
    void this.#surely(async () => {
      // It may have been offered anew since it was shown: it is still this question.
      const { nonce } = await client.prompt.get({ prompt_id });
      await client.prompt.reply({ prompt_id, nonce, value });
    });
  }

  #write(line: string): void {
    const text = line.trimEnd();
    if (text === "") return this.#empty();
    const newest = [...this.#open].at(-1);
    const button = newest === undefined ? undefined : buttonOf(newest[1], text.trim());
    const say = (): Promise<void> =>
      button === undefined ? this.#say(text) : this.#press(newest?.[0] ?? "", button.action);
    if (AT_ONCE.test(text)) void say();
    else this.#said = this.#said.then(say);
  }

  /** Enter alone is an answer where Enter is a button. */
  #empty(): void {
    const [messageId, card] = [...this.#open].at(-1) ?? [];
    const [only, ...others] = card?.buttons.flat() ?? [];
    if (messageId === undefined || card?.kind !== "prompt" || only === undefined || others.length > 0) return;
    this.#said = this.#said.then(() => this.#press(messageId, only.action));
  }

  async #say(text: string): Promise<void> {
    const { client, threadId: thread_id } = this.#parts;
    await this.#call(() => client.conversation.say({ channel: CHANNEL, thread_id, text }));
  }

  async #press(message_id: string, action: string): Promise<void> {
    const { client, threadId: thread_id } = this.#parts;
    await this.#call(() => client.conversation.press({ channel: CHANNEL, thread_id, message_id, action }));
  }

  async #call(call: () => Promise<{ readonly notice?: string | undefined }>): Promise<void> {
    const { notice = "" } = (await this.#surely(call)) ?? {};
    if (notice !== "") this.#tell(notice, "call");
  }

  #tell(text: string, by: "card" | "call"): void {
    const at = performance.now();
    for (const [said, { at: then }] of this.#told) if (at - then > ECHO_MS) this.#told.delete(said);
    const before = this.#told.get(text);
    const isEcho = before !== undefined && before.by !== by;
    if (isEcho) this.#told.delete(text);
    else this.#told.set(text, { by, at });
    if (!isEcho) this.#line.show(`* ${printableText(text)}`);
  }

  /** What goes wrong is told; the chat goes on. */
  async #surely<T>(call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof AppError || error instanceof HubUnreachable)) throw error;
      const away = error instanceof HubUnreachable ? " It is not known whether it was done." : "";
      this.#line.note(`* ${printableText(error.message)}.${away}`.replace("..", "."));
      return undefined;
    }
  }

  /** What was said from a pipe is said before. */
  #leave(): void {
    void this.#said.then(() => this.#ends.abort());
  }

  #over(afterMs: number): void {
    this.#end = "over";
    setTimeout(() => this.#ends.abort(), afterMs).unref();
  }
}
