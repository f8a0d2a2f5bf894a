/**
 * The log as an async iterable, over server-sent events.
 *
 * Every event once and in order, across any number of lost connections: the place is moved on before an item is
 * handed out, and a new connection asks for what follows it. Rules SDK-9..SDK-15 in docs/spec/client.md.
 */
import { AppError } from "../protocol/errors.ts";
import type { WorkspaceEvent } from "../protocol/events.ts";
import { operation } from "../protocol/operations.ts";
import type { Input } from "../protocol/operations.ts";
import { eventFrom, resyncFrom } from "./incoming.ts";
import { requestFor } from "./request.ts";
import { Backoff, isTransient, pause } from "./retry.ts";
import type { Timing } from "./retry.ts";
import { SseParser } from "./sse.ts";
import type { SseMessage } from "./sse.ts";
import type { Transport } from "./transport.ts";
import { HubUnreachable } from "./unreachable.ts";
import { Unreadable } from "./unreadable.ts";

export type FeedItem =
  | { readonly type: "event"; readonly event: WorkspaceEvent }
  /** Events before this place are no longer kept: what was built from the log so far must be read anew. */
  | { readonly type: "resync"; readonly after: number };

export type FeedOptions = Input<"event.stream"> & {
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
  /** Called before each pause between two connections, with what went wrong. */
  readonly onRetry?: ((error: unknown, delayMs: number) => void) | undefined;
  /** Called for each connection, when the hub has answered. */
  readonly onOpen?: (() => void) | undefined;
};

export class EventFeed {
  readonly #transport: Transport;
  readonly #options: FeedOptions;
  readonly #timing: Timing;
  readonly #backoff: Backoff;
  #last: number | undefined;

  constructor(transport: Transport, options: FeedOptions, timing: Timing) {
    this.#transport = transport;
    this.#options = options;
    this.#timing = timing;
    this.#backoff = new Backoff(timing);
  }

  async *items(): AsyncGenerator<FeedItem, void, undefined> {
    const signal = this.#options.signal ?? new AbortController().signal;
    while (!signal.aborted) {
      let lost: unknown = new HubUnreachable("The hub ended the stream");
      try {
        yield* this.#connection(signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!isTransient(error)) throw error;
        lost = error;
      }
      if (signal.aborted) return;
      const delayMs = this.#backoff.nextMs();
      this.#options.onRetry?.(lost, delayMs);
      await pause(delayMs, signal);
    }
  }

  async *#connection(signal: AbortSignal): AsyncGenerator<FeedItem, void, undefined> {
    const connection = new AbortController();
    const response = await this.#inTime(connection, this.#open(AbortSignal.any([signal, connection.signal])));
    const parser = new SseParser();
    const reader = readerOf(response);
    try {
      this.#options.onOpen?.();
      for (;;) {
        const chunk = await this.#inTime(connection, reader.read());
        if (chunk.done) return;
        this.#backoff.reset();
        for (const message of parser.push(chunk.value)) {
          const item = this.#take(message);
          if (item !== undefined) yield item;
          if (signal.aborted) return;
        }
        this.#moveTo(parser.lastId);
      }
    } finally {
      connection.abort();
    }
  }

  #open(signal: AbortSignal): Promise<Response> {
    const { after, sessionId, types } = this.#options;
    const resuming = this.#last !== undefined;
    const request = requestFor(operation("event.stream"), { after: resuming ? undefined : after, sessionId, types });
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (resuming) headers["last-event-id"] = String(this.#last);
    return this.#transport.open(request, headers, signal);
  }

  /** Undefined for what the caller has had already and for message types of a newer hub. */
  #take(message: SseMessage): FeedItem | undefined {
    if (message.event === "resync") {
      // Possibly backwards: a hub whose data was replaced begins again.
      this.#last = resyncFrom(message.data);
      return { type: "resync", after: this.#last };
    }
    if (message.event !== "message" && message.event !== "event") return undefined;
    const event = eventFrom(message.data);
    if (event.sequence <= (this.#last ?? this.#options.after ?? -1)) return undefined;
    this.#last = event.sequence;
    return { type: "event", event };
  }

  /** An id without data says that nothing up to there is for us. */
  #moveTo(id: string): void {
    const place = /^\d+$/.test(id) ? Number(id) : 0;
    if (this.#last === undefined ? place > 0 : place > this.#last) this.#last = place;
  }

  /** The clock runs only while we wait for the hub, not while the caller works on an item. */
  async #inTime<T>(connection: AbortController, answer: Promise<T>): Promise<T> {
    const timer = setTimeout(() => connection.abort(new Error("silent for too long")), this.#timing.deadAfterMs);
    try {
      return await answer;
    } catch (cause) {
      if (cause instanceof AppError || cause instanceof HubUnreachable) throw cause;
      throw new HubUnreachable("The connection to the hub was lost", { cause });
    } finally {
      clearTimeout(timer);
    }
  }
}

function readerOf(response: Response): ReadableStreamDefaultReader<Uint8Array> {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (!isStream || response.body === null) throw new Unreadable("The answer is not an event stream");
  return response.body.getReader();
}
