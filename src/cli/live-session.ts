/**
 * A session as it goes on: its bytes in order, each once, and its events, across restarts of the hub. Bytes and events
 * travel apart, so whoever learns from an event how far the output goes waits until it has been shown.
 */
import type { Attached, SidestickClient, Stream, WorkspaceEvent } from "../client/sidestick.ts";
import type { AppError } from "../protocol/errors.ts";
import type { EventType } from "../domain/event.ts";

export type LiveListener = {
  /** What follows waits until it is settled. */
  onBytes(bytes: Uint8Array, cursor: number): Promise<void>;
  onAttached?(attached: Attached): Promise<void>;
  onEvent?(event: WorkspaceEvent): void;
  onAway?(): void;
  onBack?(): void;
  onGap?(bytes: number): void;
  onRefusal?(error: AppError): void;
};

export type Place = {
  readonly from: number | "screen";
  /** Of whoever types; a watcher disturbs nobody's size. */
  readonly typing?: { readonly cols: number; readonly rows: number } | undefined;
};

export class LiveSession {
  readonly #sessionId: string;
  readonly #listener: LiveListener;
  readonly #stream: Stream;
  readonly #waiting = new Set<{ readonly cursor: number; readonly resolve: () => void }>();
  #shown = 0;
  #wasOpen = false;
  #isAway = false;

  constructor(client: SidestickClient, sessionId: string, listener: LiveListener) {
    this.#sessionId = sessionId;
    this.#listener = listener;
    this.#stream = client.stream({
      onState: (state) => this.#changed(state),
      onRefusal: (error) => listener.onRefusal?.(error),
    });
  }

  /** Up to here everything was shown. */
  get shown(): number {
    return this.#shown;
  }

  /** Rejects when the hub refuses us. */
  get closed(): Promise<void> {
    return this.#stream.closed;
  }

  follow(types: readonly EventType[], after: number): void {
    const onEvent = (event: WorkspaceEvent): void => this.#listener.onEvent?.(event);
    this.#stream.subscribe({ sessionId: this.#sessionId, types: [...types], after, onEvent });
  }

  attach({ from, typing }: Place): void {
    if (from !== "screen") this.#shown = from;
    this.#stream.attach(this.#sessionId, {
      from,
      input: typing !== undefined,
      ...typing,
      onAttached: async (attached) => {
        if (attached.snapshot !== undefined || from === "screen") this.#shown = Math.max(this.#shown, attached.cursor);
        await this.#listener.onAttached?.(attached);
      },
      onOutput: async (bytes, cursor) => {
        await this.#listener.onBytes(bytes, cursor);
        this.#reach(cursor + bytes.length);
      },
      onGap: (begin, end) => {
        this.#listener.onGap?.(end - begin);
        this.#reach(end);
      },
    });
  }

  /** False: there is no connection at this moment, and nothing was typed. */
  type(keys: Buffer, { notAtShell }: { readonly notAtShell?: boolean } = {}): boolean {
    return this.#stream.input(this.#sessionId, { data_b64: keys.toString("base64"), notAtShell });
  }

  resize(cols: number, rows: number): void {
    this.#stream.resize(this.#sessionId, cols, rows);
  }

  /** Resolves when the output up to there has been shown. */
  reached(cursor: number): Promise<void> {
    if (this.#shown >= cursor) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add({ cursor, resolve }));
  }

  close(): void {
    this.#stream.close();
  }

  #reach(cursor: number): void {
    this.#shown = Math.max(this.#shown, cursor);
    for (const waiter of this.#waiting) {
      if (waiter.cursor > this.#shown) continue;
      this.#waiting.delete(waiter);
      waiter.resolve();
    }
  }

  /** A first connection that takes long is no outage. */
  #changed(state: "connecting" | "open" | "closed"): void {
    if (state === "connecting" && this.#wasOpen && !this.#isAway) {
      this.#isAway = true;
      this.#listener.onAway?.();
    }
    if (state !== "open") return;
    this.#wasOpen = true;
    if (this.#isAway) this.#listener.onBack?.();
    this.#isAway = false;
  }
}
