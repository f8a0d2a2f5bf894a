/**
 * The web page and the command line as channels: what is shown are `chat` events, which they read like everybody, and what people write
 * or press comes through operations. Agents read the log too, so a link that lets a secret in isn't there. Rules CHN-25..CHN-27.
 */
import { SYSTEM } from "../../domain/actor.ts";
import type { Card } from "../../domain/channels/card.ts";
import type { JsonObject } from "../../domain/event.ts";
import type { Logger } from "../../lib/logger.ts";
import { AppError } from "../../protocol/errors.ts";
import {
  type Channel,
  ChannelFailed,
  type ChannelHealth,
  type Incoming,
  type MessageRef,
  type Reaction,
  type Receive,
} from "../channel-port.ts";
import type { Journal } from "../journal.ts";

export type LogChannelParts = {
  readonly name: "web" | "cli";
  readonly journal: Journal;
  /** The session that a thread talks to, or the hub's own stream. */
  readonly streamOf: (threadId: string) => string;
  readonly newId: () => string;
  readonly logger: Logger;
};

/** Removed messages that are remembered, so that none of them comes back. */
const REMOVED_KEPT = 1_000;

export class LogChannel implements Channel {
  readonly name: LogChannelParts["name"];
  readonly #parts: LogChannelParts;
  readonly #removed = new Set<string>();
  #receive: Receive | undefined;

  constructor(parts: LogChannelParts) {
    this.name = parts.name;
    this.#parts = parts;
  }

  get health(): ChannelHealth {
    return { state: this.#receive === undefined ? "connecting" : "up" };
  }

  async start(receive: Receive): Promise<string> {
    this.#receive = receive;
    return this.name;
  }

  async send(threadId: string, card: Card, key = this.#parts.newId()): Promise<MessageRef> {
    await this.#tell(threadId, key, { card: withoutLink(card) });
    return key;
  }

  async edit(threadId: string, ref: MessageRef, card: Card): Promise<void> {
    if (this.#removed.has(ref)) throw new ChannelFailed("That message was removed", "never");
    await this.#tell(threadId, ref, { card: withoutLink(card), edited: true });
  }

  async remove(threadId: string, ref: MessageRef): Promise<boolean> {
    if (this.#removed.has(ref)) return true;
    await this.#tell(threadId, ref, { removed: true });
    this.#removed.add(ref);
    const [oldest = ""] = this.#removed;
    if (this.#removed.size > REMOVED_KEPT) this.#removed.delete(oldest);
    return true;
  }

  isPrivate(): boolean {
    return false;
  }

  async close(): Promise<void> {
    this.#receive = undefined;
  }

  /** What somebody wrote or pressed, from the operations. */
  async take(incoming: Incoming): Promise<Reaction> {
    if (this.#receive === undefined) throw new AppError("not_found", { what: "channel", id: this.name });
    try {
      return await this.#receive(incoming);
    } catch (error) {
      if (error instanceof AppError) throw error;
      // What went wrong may hold what was written.
      const name = error instanceof Error ? error.name : typeof error;
      this.#parts.logger.error("what was said in a chat could not be dealt with", { channel: this.name, name });
      return {};
    }
  }

  async #tell(threadId: string, ref: MessageRef, what: JsonObject): Promise<void> {
    const { journal, streamOf } = this.#parts;
    if (this.#receive === undefined) throw new ChannelFailed("The channel is closed", "later");
    const payload = { kind: "card", channel: this.name, thread_id: threadId, message_id: ref, ...what };
    try {
      await journal.note(streamOf(threadId), "process", [{ type: "chat", payload, source: SYSTEM }]);
    } catch (error) {
      throw new ChannelFailed(error instanceof Error ? error.message : String(error), "later");
    }
  }
}

function withoutLink({ link: _link, ...card }: Card): JsonObject {
  return card;
}
