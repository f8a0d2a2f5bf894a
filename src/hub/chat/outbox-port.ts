/** What waits to be shown in chats, what is shown there, and what was already received: kept over restarts. */
import type { Card } from "../../domain/channels/card.ts";
import type { ChatAction } from "../../domain/channels/chat-action.ts";
import type { Thread } from "../../domain/conversation.ts";
import type { MessageRef } from "../channel-port.ts";

export type OutboxRow = Thread & {
  /** Growing: rows of a thread are shown in this order. */
  readonly id: number;
  /** What it is about: a later event about the same changes this card. Absent: nothing will, and once shown the row goes. */
  readonly about?: string | undefined;
  readonly sessionId?: string | undefined;
  /** The action of a button is its number here; what is shown also names the row. */
  readonly card: Card;
  /** By the number of their button. */
  readonly actions: readonly ChatAction[];
  /** `edit`: shown, but not as it is now. */
  readonly state: "queued" | "sent" | "edit" | "failed";
  readonly ref?: MessageRef | undefined;
};

export type NewRow = Omit<OutboxRow, "id" | "state" | "ref">;

export type Forwarded = Thread & { readonly sessionId: string; readonly cursor: number };

export type OutboxChange = {
  readonly add?: readonly NewRow[] | undefined;
  /** Whole rows as they are from now on. */
  readonly put?: readonly OutboxRow[] | undefined;
  readonly drop?: readonly number[] | undefined;
  /** How far the log was announced. */
  readonly consumed?: number | undefined;
  /** Up to which byte a session's output was forwarded to a thread. */
  readonly forwarded?: readonly Forwarded[] | undefined;
  /** Whose output is forwarded no more. */
  readonly forget?: readonly Omit<Forwarded, "cursor">[] | undefined;
};

export type Seen = { readonly channel: string; readonly id: string };

export interface OutboxStore {
  /** All of it or nothing; answers the added rows. Resolves when it survives the death of this process. */
  change(change: OutboxChange): Promise<readonly OutboxRow[]>;
  /** Oldest first. */
  rows(): Promise<readonly OutboxRow[]>;
  consumed(): Promise<number | undefined>;
  forwarded(): Promise<readonly Forwarded[]>;
  /** What was answered to a delivery before, or nothing the first time. */
  seen(delivery: Seen): Promise<{ readonly notice?: string | undefined } | undefined>;
  /** Keeps the newest 5,000 of a channel. */
  saw(delivery: Seen, reaction: { readonly notice?: string | undefined }): Promise<void>;
}
