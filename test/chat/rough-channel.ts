/** The log channel, with a platform's bad days: what it shows passes the channel contract, what fails is told by the test. */
import type { Card } from "../../src/domain/channels/card.ts";
import { type Channel, ChannelFailed, type ChannelHealth, type Receive } from "../../src/hub/channel-port.ts";
import type { LogChannel } from "../../src/hub/chat/log-channel.ts";

export type Call = { readonly verb: "send" | "edit"; readonly card: Card };

export class RoughChannel implements Channel {
  readonly name: string;
  readonly #inner: LogChannel;
  /** Every call that was made, also those that failed. */
  readonly calls: Call[] = [];
  /** Answers what goes wrong with a call, if something does; may take its time. */
  trouble: (call: Call) => Promise<ChannelFailed | undefined> = async () => undefined;

  constructor(inner: LogChannel) {
    this.#inner = inner;
    this.name = inner.name;
  }

  get health(): ChannelHealth {
    return this.#inner.health;
  }

  start(receive: Receive): Promise<string> {
    return this.#inner.start(receive);
  }

  async send(threadId: string, card: Card, key?: string): Promise<string> {
    await this.#meet({ verb: "send", card });
    return this.#inner.send(threadId, card, key);
  }

  async edit(threadId: string, ref: string, card: Card): Promise<void> {
    await this.#meet({ verb: "edit", card });
    await this.#inner.edit(threadId, ref, card);
  }

  remove(threadId: string, ref: string): Promise<boolean> {
    return this.#inner.remove(threadId, ref);
  }

  /** As a chat of one person. */
  isPrivate(): boolean {
    return true;
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  async #meet(call: Call): Promise<void> {
    this.calls.push(call);
    const failure = await this.trouble(call);
    if (failure !== undefined) throw failure;
  }
}

/** The first calls fail, then all goes well. */
export function failing(...failures: readonly ChannelFailed[]): RoughChannel["trouble"] {
  const left = [...failures];
  return async () => left.shift();
}

export const later = (retryAfterMs?: number): ChannelFailed => new ChannelFailed("too many", "later", retryAfterMs);
export const never = (): ChannelFailed => new ChannelFailed("refused", "never");
