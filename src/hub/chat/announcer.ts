/**
 * What people are told in chats, as a projection of the log: each event once, in order, with the place in the log stored in the same
 * transaction as the cards that it causes. A card that is about the same is changed, never sent twice. Rules CHN-17..CHN-20.
 */
import { type ConversationEvent, isThread, type Thread } from "../../domain/conversation.ts";
import type { StoredEvent } from "../../domain/event.ts";
import type { Logger } from "../../lib/logger.ts";
import type { Journal } from "../journal.ts";
import { CursorExpired, StorageFailed } from "../ports.ts";
import { woken } from "../woken.ts";
import { type Announcements, TOLD } from "./announcements.ts";
import type { Forwarder } from "./forwarder.ts";
import type { Multi } from "./multi.ts";
import type { Outbox } from "./outbox.ts";
import type { OutboxChange } from "./outbox-port.ts";

export type AnnouncerParts = {
  readonly journal: Journal;
  readonly outbox: Outbox;
  readonly multi: Multi;
  readonly forwarder: Forwarder;
  readonly announcements: Announcements;
  readonly logger: Logger;
  /** Resolves when links lead somewhere; until then nothing is told. */
  readonly reachable?: Promise<void> | undefined;
};

const RETRY_MS = 1_000;

export class Announcer {
  readonly #parts: AnnouncerParts;
  readonly #ends = new AbortController();
  readonly #waiting = new Set<() => void>();
  #seen = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: AnnouncerParts) {
    this.#parts = parts;
  }

  /** The first time ever nothing of before is told. */
  async start(): Promise<void> {
    const { journal, outbox, multi, announcements } = this.#parts;
    if (outbox.consumed === undefined) await outbox.change(() => ({ consumed: journal.log.head }));
    await outbox.change(() => announcements.ofForgotten());
    const from = outbox.consumed ?? 0;
    for await (const batch of journal.log.scan(["conversation"])) {
      for (const event of batch) if (event.sequence <= from) multi.fold(event);
    }
    this.#seen = from;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#ends.abort();
    await this.#running;
  }

  /** Resolves when everything up to `sequence` is announced. */
  async announced(sequence: number): Promise<void> {
    while (this.#seen < sequence && !this.#ends.signal.aborted) await woken(this.#waiting, this.#ends.signal);
  }

  /** A thread where people look from now on is shown what is still to be decided. */
  async catchUp(thread: Thread): Promise<void> {
    await this.#parts.reachable;
    await this.#parts.outbox.change(() => this.#parts.announcements.pendingFor(thread));
  }

  async #run(): Promise<void> {
    const { signal } = this.#ends;
    await Promise.race([this.#parts.reachable, aborted(signal)]);
    while (!signal.aborted) {
      try {
        await this.#follow(signal);
      } catch (error) {
        this.#passOver(error);
        await woken(this.#waiting, AbortSignal.any([signal, AbortSignal.timeout(RETRY_MS)]));
      }
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const query = { after: this.#seen, types: TOLD };
    for await (const batch of this.#parts.journal.log.subscribe(query, signal)) {
      for (const event of batch) {
        if (signal.aborted) return;
        await this.#take(event);
      }
    }
    if (!signal.aborted) throw new StorageFailed("the log was closed");
  }

  /** What is no longer kept, which caused what is past too; anything else is tried again. */
  #passOver(error: unknown): void {
    this.#parts.logger.warn("events could not be announced in chats", { error });
    if (error instanceof CursorExpired) this.#seen = Math.max(this.#seen, error.oldest);
  }

  async #take(event: StoredEvent): Promise<void> {
    const { outbox, forwarder } = this.#parts;
    const { sessionId, type, payload, sequence } = event;
    if (type === "status" && payload["status"] === "closed") await forwarder.finish(sessionId);
    const listening = type === "conversation" ? await this.#bound(event) : undefined;
    await outbox.change(() => {
      const change = { ...listening, ...this.#causedBy(event) };
      // What changes nothing needs no write of its own: taken again after a crash, it changes nothing again.
      return isNothing(change) ? {} : { ...change, consumed: sequence };
    });
    this.#seen = sequence;
    for (const wake of this.#waiting) wake();
  }

  async #bound(event: StoredEvent): Promise<OutboxChange> {
    const { multi, forwarder } = this.#parts;
    const told = event.payload as unknown as ConversationEvent;
    multi.fold(event);
    if (told.type === "conversation.unbound") return { forget: forwarder.unlisten(told) };
    if (told.type !== "conversation.bound") return {};
    const { channel, threadId, sessionId } = told;
    const isHeard = multi.bound(sessionId, Date.parse(event.timestamp)).some((it) => isThread(it, told));
    return isHeard ? { forwarded: await forwarder.listen({ channel, threadId }, sessionId) } : {};
  }

  /** A bug in one must not silence all that follow. */
  #causedBy(event: StoredEvent): OutboxChange {
    const { announcements, logger } = this.#parts;
    try {
      return announcements.of(event);
    } catch (error) {
      logger.error("an event could not be made a card", { session: event.sessionId, sequence: event.sequence, error });
      return {};
    }
  }
}

function isNothing(change: OutboxChange): boolean {
  return Object.values(change).every((it) => Array.isArray(it) && it.length === 0);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
