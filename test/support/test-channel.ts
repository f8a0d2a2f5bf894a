/** A chat platform in memory: one bot, as many threads and people as a test wants. */
import type { Card } from "../../src/domain/channels/card.ts";
import {
  type Channel,
  ChannelFailed,
  type ChannelHealth,
  type ChatUser,
  type Incoming,
  type MessageRef,
  type Reaction,
  type Receive,
} from "../../src/hub/channel-port.ts";

export type ShownCard = { readonly threadId: string; readonly ref: MessageRef; readonly card: Card };

export const BOT = "@test_bot";

/** A platform's numbers go on when a hub starts anew. */
let messages = 0;

export class TestChannel implements Channel {
  readonly name: string;
  health: ChannelHealth = { state: "connecting" };
  readonly shown: ShownCard[] = [];
  /** People's messages that stand, as `ref`. */
  readonly messages = new Map<MessageRef, string>();
  readonly removed: MessageRef[] = [];
  /** What the platform answers next, instead of doing it. */
  fails: ChannelFailed | undefined;
  /** Why it doesn't remove the next thing that it is to; `stays`: it never lets a bot do so. */
  keeps: ChannelFailed | "stays" | undefined;
  /** When people write, as the platform tells it; absent: it doesn't. */
  writtenAt: number | undefined;
  readonly #delivered = new Map<string, MessageRef>();
  #receive: Receive | undefined;
  #last = 0;

  constructor(name = "telegram") {
    this.name = name;
  }

  async start(receive: Receive): Promise<string> {
    this.#refuse();
    this.#receive = receive;
    this.health = { state: "up" };
    return BOT;
  }

  async send(threadId: string, card: Card): Promise<MessageRef> {
    this.#refuse();
    if (this.#receive === undefined) throw new ChannelFailed("It is closed", "never");
    const ref = this.#ref();
    this.shown.push({ threadId, ref, card });
    return ref;
  }

  async edit(threadId: string, ref: MessageRef, card: Card): Promise<void> {
    this.#refuse();
    const at = this.shown.findIndex((it) => it.threadId === threadId && it.ref === ref);
    if (at < 0) throw new ChannelFailed("No such message", "never");
    this.shown[at] = { threadId, ref, card };
  }

  async remove(threadId: string, ref: MessageRef): Promise<boolean> {
    const { keeps } = this;
    this.keeps = undefined;
    if (keeps === "stays") return false;
    if (keeps !== undefined) throw keeps;
    this.messages.delete(ref);
    const at = this.shown.findIndex((it) => it.threadId === threadId && it.ref === ref);
    if (at >= 0) this.shown.splice(at, 1);
    this.removed.push(ref);
    return true;
  }

  /** Homes are chats of one person. */
  isPrivate(threadId: string): boolean {
    return threadId.startsWith("home-");
  }

  async close(): Promise<void> {
    this.#receive = undefined;
    this.health = { state: "failed", detail: "closed" };
  }

  /** `id`: of a delivery that the platform repeats. */
  async says(user: ChatUser, threadId: string, text: string, id?: string): Promise<Reaction> {
    const before = id === undefined ? undefined : this.#delivered.get(id);
    const ref = before ?? this.#ref();
    if (before === undefined) this.messages.set(ref, text);
    if (id !== undefined) this.#delivered.set(id, ref);
    return this.#deliver({ id: id ?? `m${ref}`, threadId, user, ref, kind: "text", text, writtenAt: this.writtenAt });
  }

  /** `ref`: of the card, where it matters. */
  async presses(user: ChatUser, threadId: string, action: string, ref: MessageRef = ""): Promise<Reaction> {
    return this.#deliver({ id: `p${this.#ref()}`, threadId, user, ref, kind: "press", action });
  }

  /** Of the message that was written or shown last. */
  lastRef(): MessageRef {
    return String(this.#last);
  }

  async #deliver(incoming: Incoming): Promise<Reaction> {
    return (await this.#receive?.(incoming)) ?? {};
  }

  #ref(): MessageRef {
    messages += 1;
    this.#last = messages;
    return String(messages);
  }

  #refuse(): void {
    const failure = this.fails;
    this.fails = undefined;
    if (failure !== undefined) throw failure;
  }
}
