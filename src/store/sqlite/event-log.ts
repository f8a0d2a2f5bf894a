/**
 * The event log over SQLite. Times are made here, the order and the sequence in the store's thread; events are shown
 * to observers and readers only once they are stored. Rules in docs/spec/log.md.
 */
import { type EventType, type NewEvent, retentionOf, type StoredEvent } from "../../domain/event.ts";
import type {
  Appended,
  Durability,
  EventFeed,
  EventFilter,
  EventLog,
  EventQuery,
  Pruned,
  Retention,
  Version,
} from "../../hub/ports.ts";
import { StorageFailed } from "../../hub/ports.ts";
import { BATCH_EVENTS, Feed, type FeedSource, type RecentPage, type StoredPage } from "./event-feed.ts";
import { decodePage, stampEvents } from "./event-rows.ts";
import type { Page } from "./messages.ts";
import { RecentEvents } from "./recent-events.ts";
import type { StoreWorker } from "./store-worker.ts";

/** Payload bytes of one page for a reader that catches up: bounds what it holds in memory. */
const FEED_BYTES = 1 << 20;

/** Payload bytes of one answer to a read: a page of the largest events must not be longer than a string can be. */
const READ_BYTES = 1 << 24;

const SCAN_EVENTS = 5000;

type PageStart = { readonly after: number | undefined; readonly tolerated: number };

type Listener = (events: readonly StoredEvent[]) => void;

export class SqliteEventLog implements EventLog {
  readonly #worker: StoreWorker;
  readonly #now: () => number;
  readonly #recent: RecentEvents;
  readonly #listeners = new Set<Listener>();
  readonly #waiting = new Set<() => void>();
  #head: number;
  #lastAt: number;
  #unsettled = 0;
  #onSettled: (() => void) | undefined;
  #ended: { readonly error: Error | undefined } | undefined;

  constructor(worker: StoreWorker, now: () => number) {
    this.#worker = worker;
    this.#now = now;
    this.#head = worker.opened.head;
    this.#lastAt = worker.opened.lastAt;
    this.#recent = new RecentEvents(this.#head);
    worker.onDeath(() => this.#end(worker.problem));
  }

  get head(): number {
    return this.#head;
  }

  append(
    stream: string,
    expected: Version | "any",
    events: readonly NewEvent[],
    durability: Durability,
  ): Promise<Appended> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) throw new StorageFailed("The log is closed.", { cause: this.#ended.error });
      // A clock that was set back must not make a later event look older than an earlier one.
      const at = Math.max(this.#lastAt, Math.trunc(this.#now()));
      const settle = (outcome: number): void => {
        if (outcome < 0) resolve({ ok: false, version: -1 - outcome });
        else
          resolve({ ok: true, events: this.#publish(stampEvents(events, { stream, at, first: outcome }), characters) });
        this.#settled();
      };
      const fail = (error: Error): void => {
        reject(error);
        this.#settled();
      };
      const characters = this.#worker.append({ stream, expected, events, durability, at }, { settle, reject: fail });
      this.#lastAt = at;
      this.#unsettled += 1;
    });
  }

  async read(query: EventQuery): Promise<readonly StoredEvent[]> {
    const { after, limit } = query;
    return (await this.#page(query, { after, tolerated: 0 }, { limit, maxBytes: READ_BYTES })).events;
  }

  async *scan(types: readonly EventType[]): AsyncGenerator<readonly StoredEvent[]> {
    let from: PageStart = { after: undefined, tolerated: 0 };
    for (;;) {
      const page = await this.#page({ types }, from, { limit: SCAN_EVENTS, maxBytes: READ_BYTES });
      const last = page.events.at(-1);
      if (last === undefined) return;
      yield page.events;
      // What was gone when it began is no loss to it; what is removed under its hands is.
      from = { after: last.sequence, tolerated: from.after === undefined ? page.removed : from.tolerated };
    }
  }

  async last(stream: string, type: EventType): Promise<StoredEvent | undefined> {
    return this.#decode(await this.#worker.call("last", { sessionId: stream, type }))[0];
  }

  async lastPlaced(stream: string): Promise<StoredEvent | undefined> {
    return this.#decode(await this.#worker.call("lastPlaced", { sessionId: stream }))[0];
  }

  subscribe(query: Omit<EventQuery, "limit">, signal: AbortSignal): EventFeed {
    const matches = matcher(query);
    const source: FeedSource = {
      recent: (cursor) => this.#recentAfter(cursor, matches),
      stored: (after, tolerated) =>
        this.#page(query, { after, tolerated }, { limit: BATCH_EVENTS, maxBytes: FEED_BYTES }),
      wait: (wake) => {
        this.#waiting.add(wake);
        return { [Symbol.dispose]: () => void this.#waiting.delete(wake) };
      },
      ended: () => this.#ended,
    };
    return new Feed(source, query.after, signal);
  }

  observe(listener: Listener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  async prune({ keep, keepEvents, ...limits }: Retention): Promise<Pruned> {
    const through = Math.min(this.#head, limits.written?.sequence ?? this.#head);
    const stays = { keep: [...keep], keepEvents: [...keepEvents], through };
    const { floor, ...pruned } = await this.#worker.call("prune", { ...limits, ...stays, now: this.#now() });
    this.#recent.dropThrough(floor);
    return pruned;
  }

  /** Ends the feeds and waits for the appends that were made. The thread is closed by whoever opened it. */
  async close(): Promise<void> {
    this.#end(undefined);
    if (this.#unsettled > 0) await new Promise<void>((resolve) => (this.#onSettled = resolve));
  }

  #publish(events: readonly StoredEvent[], characters: number): readonly StoredEvent[] {
    if (events.length === 0) return events;
    this.#head = events.at(-1)!.sequence;
    this.#recent.push(events, characters);
    for (const listener of this.#listeners) listener(events);
    this.#wake();
    return events;
  }

  async #page(filter: EventFilter, from: PageStart, size: { limit: number; maxBytes: number }): Promise<StoredPage> {
    const { sessionId, types } = filter;
    const page = await this.#worker.call("page", { ...from, ...size, sessionId, types });
    const { through, removed } = page;
    return { events: this.#decode(page), through, removed };
  }

  #decode(page: Page): readonly StoredEvent[] {
    try {
      return decodePage(page, this.#worker.opened.types);
    } catch (cause) {
      throw new StorageFailed(`Reading ${this.#worker.file} failed (an event in it is damaged).`, { cause });
    }
  }

  #recentAfter(cursor: number, matches: (event: StoredEvent) => boolean): RecentPage | undefined {
    if (cursor < this.#recent.floor) return undefined;
    const candidates = this.#recent.after(cursor, BATCH_EVENTS);
    const through = candidates.at(-1)?.sequence ?? cursor;
    return { events: candidates.filter(matches), through, isLast: candidates.length < BATCH_EVENTS };
  }

  #end(error: Error | undefined): void {
    this.#ended ??= { error };
    this.#wake();
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  #settled(): void {
    this.#unsettled -= 1;
    if (this.#unsettled === 0) this.#onSettled?.();
  }
}

function matcher({ sessionId, types }: EventFilter): (event: StoredEvent) => boolean {
  const wanted = types === undefined ? undefined : new Set(types);
  return (event) =>
    (sessionId === undefined || event.sessionId === sessionId) &&
    (wanted === undefined ? retentionOf(event.type) !== "housekeeping" : wanted.has(event.type));
}
