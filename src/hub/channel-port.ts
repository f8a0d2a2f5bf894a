/**
 * A chat platform as the desks see it. It shows cards and tells what people wrote or pressed; who may do what, in which order things
 * are sent and what is tried again is decided by the desks. Contract: test/channels/channel.contract.ts.
 */
import type { Card } from "../domain/channels/card.ts";

/** The platform's own name of a message in a thread. */
export type MessageRef = string;

export type ChatUser = {
  /** The platform's id, which people can't choose. */
  readonly id: string;
  readonly name: string;
};

export type Incoming = {
  /** Of this delivery: repeated by the platform, it is the same. */
  readonly id: string;
  readonly threadId: string;
  readonly user: ChatUser;
  readonly ref: MessageRef;
} &
  /** `writtenAt`: at the earliest, by the platform's clock, where it tells; it may keep a message for as long as we are away. */
  (
    | { readonly kind: "text"; readonly text: string; readonly writtenAt?: number | undefined }
    /** `ref` is the card's. */
    | { readonly kind: "press"; readonly action: string }
  );

/** Shown to the one who wrote or pressed, where the platform can; else to the thread. */
export type Reaction = { readonly notice?: string | undefined };

export type Receive = (incoming: Incoming) => Promise<Reaction>;

export type ChannelHealth = {
  readonly state: "up" | "connecting" | "failed";
  readonly detail?: string | undefined;
};

export interface Channel {
  readonly name: string;
  readonly health: ChannelHealth;
  /** Answers the name that people know the bot by. Rejects with `ChannelFailed` when the platform refuses us. */
  start(receive: Receive): Promise<string>;
  /** `key`: of this message; sent again because nobody knows whether it was shown, it is the same. */
  send(threadId: string, card: Card, key?: string): Promise<MessageRef>;
  edit(threadId: string, ref: MessageRef, card: Card): Promise<void>;
  /** Of our own messages and of people's. Answers whether it is gone: a platform may not let us. */
  remove(threadId: string, ref: MessageRef): Promise<boolean>;
  /** Read by one person alone, besides us. */
  isPrivate(threadId: string): boolean;
  close(): Promise<void>;
}

/**
 * `later`: nothing was shown, or nobody knows; try again, after `retryAfterMs` if the platform named it. `never`: the same will be
 * refused again. No message holds a token.
 */
export class ChannelFailed extends Error {
  override readonly name = "ChannelFailed";
  readonly again: "later" | "never";
  readonly retryAfterMs: number | undefined;

  constructor(message: string, again: "later" | "never", retryAfterMs?: number) {
    super(message);
    this.again = again;
    this.retryAfterMs = retryAfterMs;
  }
}
