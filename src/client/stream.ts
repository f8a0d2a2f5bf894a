/**
 * The WebSocket at `/stream`, kept open: events and output arrive once and in order, whatever happens to the
 * connections below. Input is the exception: it is sent now or not at all, for nobody wants to find keys typed a
 * minute later. Rules SDK-16..SDK-22 in docs/spec/client.md.
 */
import type { AppError } from "../protocol/errors.ts";
import { errorFromProblem } from "../protocol/errors.ts";
import type { WorkspaceEvent } from "../protocol/events.ts";
import type { Input } from "../protocol/operations.ts";
import { decodeOutput } from "../protocol/stream.ts";
import type { ClientFrameInput, ServerFrame } from "../protocol/stream.ts";
import { Attachment } from "./attachment.ts";
import type { Viewer } from "./attachment.ts";
import { frameFrom } from "./incoming.ts";
import { Backoff, isTransient, pause } from "./retry.ts";
import type { Timing } from "./retry.ts";
import { converse } from "./socket.ts";
import type { Socket } from "./socket.ts";
import { HubUnreachable } from "./unreachable.ts";

export type Subscription = Input<"event.stream"> & {
  onEvent(event: WorkspaceEvent): void;
  /** Events before this place are no longer kept. */
  onResync?(after: number): void;
};

export type StreamState = "connecting" | "open" | "closed";

/** How far we have been fed: up to a byte of a session's output, or up to a place in the log. */
export type Lag =
  | { readonly of: "output"; readonly sessionId: string; readonly cursor: number | undefined }
  | { readonly of: "events"; readonly after: number | undefined };

export type StreamOptions = {
  /** Closes the stream. */
  readonly signal?: AbortSignal | undefined;
  readonly onState?: ((state: StreamState) => void) | undefined;
  /** We take things up too slowly and are fed at our own pace; nothing is lost by it. */
  readonly onLagged?: ((lag: Lag) => void) | undefined;
  /** The hub refused a frame, or can't go on with a session (`details.sessionId`); the stream goes on. */
  readonly onRefusal?: ((error: AppError) => void) | undefined;
};

export type StreamParts = {
  /** Makes a socket that is opening, with a fresh ticket. */
  readonly connect: (signal: AbortSignal) => Promise<Socket>;
  readonly timing: Timing;
};

type Keys = ({ readonly data: string } | { readonly data_b64: string }) & { readonly notAtShell?: boolean | undefined };

export class Stream {
  readonly #parts: StreamParts;
  readonly #options: StreamOptions;
  readonly #ending = new AbortController();
  readonly #attachments = new Map<string, Attachment>();
  readonly #backoff: Backoff;
  #subscription: (Subscription & { last?: number }) | undefined;
  #send: ((frame: ClientFrameInput) => void) | undefined;

  /** Resolves after `close` or abort; rejects when the hub refuses us or a callback threw. */
  readonly closed: Promise<void>;

  constructor(parts: StreamParts, options: StreamOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#backoff = new Backoff(parts.timing);
    const given = options.signal;
    given?.addEventListener("abort", () => this.close(), { once: true, signal: this.#ending.signal });
    if (given?.aborted === true) this.close();
    this.closed = this.#run();
    // Whoever wants to know awaits `closed`; others must not die of an unhandled rejection.
    this.closed.catch(() => undefined);
  }

  /** There is one subscription; a new one takes the place of the old. */
  subscribe(subscription: Subscription): void {
    this.#subscription = { ...subscription };
    this.#send?.(this.#subscribeFrame(this.#subscription));
  }

  attach(sessionId: string, viewer: Viewer): void {
    this.#attachments.get(sessionId)?.detach();
    const attachment = new Attachment(sessionId, viewer, {
      send: (frame) => this.#send?.(frame),
      fail: (error) => this.#ending.abort(error),
    });
    this.#attachments.set(sessionId, attachment);
    this.#send?.(attachment.request());
  }

  detach(sessionId: string): void {
    this.#attachments.get(sessionId)?.detach();
    if (this.#attachments.delete(sessionId)) this.#send?.({ type: "detach", sessionId });
  }

  /** False: there is no connection at this moment and nothing was sent, nor will be. */
  input(sessionId: string, keys: Keys): boolean {
    this.#send?.({ type: "input", sessionId, ...keys });
    return this.#send !== undefined;
  }

  resize(sessionId: string, cols: number, rows: number): void {
    const attachment = this.#attachments.get(sessionId);
    if (attachment === undefined) return;
    attachment.resize(cols, rows);
    this.#send?.({ type: "resize", sessionId, cols, rows });
  }

  close(): void {
    this.#ending.abort(CLOSED);
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    try {
      while (!signal.aborted) {
        this.#options.onState?.("connecting");
        await this.#connection(signal);
        if (!signal.aborted) await pause(this.#backoff.nextMs(), signal);
      }
    } finally {
      this.#send = undefined;
      this.#ending.abort(CLOSED);
      for (const attachment of this.#attachments.values()) attachment.detach();
      this.#options.onState?.("closed");
    }
    if (signal.reason !== CLOSED) throw signal.reason;
  }

  async #connection(signal: AbortSignal): Promise<void> {
    try {
      const socket = await this.#parts.connect(signal);
      await converse(socket, this.#listener(), this.#parts.timing, signal);
    } catch (error) {
      if (!signal.aborted && !isTransient(error)) throw error;
    } finally {
      this.#send = undefined;
    }
  }

  #listener() {
    return {
      onOpen: (send: (frame: ClientFrameInput) => void): void => {
        this.#send = send;
        if (this.#subscription !== undefined) send(this.#subscribeFrame(this.#subscription));
        for (const attachment of this.#attachments.values()) send(attachment.request());
        this.#options.onState?.("open");
      },
      onMessage: (data: string | ArrayBuffer): void => {
        this.#backoff.reset();
        try {
          if (typeof data === "string") this.#receive(frameFrom(data));
          else this.#receiveBytes(new Uint8Array(data));
        } catch (error) {
          this.#ending.abort(error);
        }
      },
    };
  }

  #receive(frame: ServerFrame | undefined): void {
    switch (frame?.type) {
      case "event":
        return this.#event(frame.event);
      case "resync":
        return this.#resync(frame.after);
      case "attached":
        return this.#attachments.get(frame.sessionId)?.attached(frame);
      case "lagged":
        return this.#options.onLagged?.(lagOf(frame));
      case "error":
        return this.#refused(frame);
      case "pong":
      case undefined:
        return undefined;
    }
  }

  #refused(frame: Extract<ServerFrame, { type: "error" }>): void {
    const { code, sessionId, oldest, status } = frame;
    const attachment = typeof sessionId === "string" ? this.#attachments.get(sessionId) : undefined;
    if (code === "cursor_expired" && typeof oldest === "number" && attachment?.expired(oldest) === true) return;
    const problem = { detail: "The hub refused a frame", ...frame };
    this.#options.onRefusal?.(errorFromProblem(problem, typeof status === "number" ? status : 400));
  }

  #receiveBytes(bytes: Uint8Array): void {
    const frame = decodeOutput(bytes);
    if (frame !== undefined) this.#attachments.get(frame.sessionId)?.output(frame);
  }

  #event(event: WorkspaceEvent): void {
    const subscription = this.#subscription;
    if (subscription === undefined || event.sequence <= (subscription.last ?? subscription.after ?? -1)) return;
    subscription.last = event.sequence;
    subscription.onEvent(event);
  }

  #resync(after: number): void {
    if (this.#subscription === undefined) return;
    this.#subscription.last = after;
    this.#subscription.onResync?.(after);
  }

  #subscribeFrame({ after, last, sessionId, types }: Subscription & { last?: number }): ClientFrameInput {
    return { type: "subscribe", after: last ?? after, sessionId, types };
  }
}

function lagOf({ sessionId, cursor, after }: Extract<ServerFrame, { type: "lagged" }>): Lag {
  return sessionId === undefined ? { of: "events", after } : { of: "output", sessionId, cursor };
}

const CLOSED = new HubUnreachable("The stream was closed");
