/**
 * One WebSocket. It pulls events and output at its own pace from the stores, so that nothing is queued for a slow
 * viewer beyond what its socket holds: it is told that it lags and goes on from its cursor, and nobody else feels it.
 * Rules STR-4..STR-9.
 */
import type { WebSocket } from "ws";
import type { OutputDesk } from "../hub/output-desk.ts";
import { CursorExpired, type EventLog } from "../hub/ports.ts";
import type { SessionDesk } from "../hub/session-desk.ts";
import { parseStrictJsonText, StrictJsonError } from "../lib/strict-json.ts";
import { AppError, type Problem, problemOf } from "../protocol/errors.ts";
import { ClientFrame, DEAD_AFTER_MS, encodeOutput, HEARTBEAT_MS, type ServerFrame } from "../protocol/stream.ts";
import { AckWindow } from "./ack-window.ts";
import type { Caller } from "./caller.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { visibleFilter } from "./operations/events.ts";

export type ViewerParts = {
  readonly dispatcher: Dispatcher;
  readonly log: EventLog;
  readonly output: OutputDesk;
  readonly sessions: SessionDesk;
};

/** Beyond this much unsent data the viewer is not fed until its socket has taken it. */
const SOCKET_BUFFER_BYTES = 1024 * 1024;
/** A viewer this far behind is told so. */
const LAG_EVENTS = 1000;
const MAX_ATTACHED = 100;
const CLOSE_REVOKED = 4401;
const CLOSE_GOING_AWAY = 1001;

type Attached = { readonly end: AbortController; readonly window: AckWindow; readonly mayType: boolean };

export class Viewer {
  readonly #socket: WebSocket;
  readonly #caller: Caller;
  readonly #parts: ViewerParts;
  readonly #end = new AbortController();
  readonly #attached = new Map<string, Attached>();
  #subscription: AbortController | undefined;
  /** Frames act one after the other: keys keep their order. */
  #turn: Promise<void> = Promise.resolve();
  #lastHeardAt = performance.now();

  constructor(socket: WebSocket, caller: Caller, parts: ViewerParts) {
    this.#socket = socket;
    this.#caller = caller;
    this.#parts = parts;
  }

  start(hubEnds: AbortSignal): void {
    const revoked = (): void => this.#close(CLOSE_REVOKED, "revoked");
    const goingDown = (): void => this.#close(CLOSE_GOING_AWAY, "the hub goes down");
    const { signal } = this.#end;
    this.#caller.revoked.addEventListener("abort", revoked, { signal });
    hubEnds.addEventListener("abort", goingDown, { signal });
    const heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS);
    this.#socket.on("pong", () => (this.#lastHeardAt = performance.now()));
    this.#socket.on("message", (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    this.#socket.on("error", () => this.#socket.terminate());
    this.#socket.on("close", () => {
      clearInterval(heartbeat);
      this.#end.abort();
    });
    if (this.#caller.revoked.aborted) revoked();
  }

  #beat(): void {
    if (performance.now() - this.#lastHeardAt > DEAD_AFTER_MS) this.#socket.terminate();
    else this.#socket.ping();
  }

  #close(code: number, reason: string): void {
    this.#end.abort();
    this.#socket.close(code, reason);
    // A peer that doesn't answer the close must not keep a revoked stream open.
    setTimeout(() => this.#socket.terminate(), 100).unref();
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#lastHeardAt = performance.now();
    this.#socket.pause();
    this.#turn = this.#turn
      .then(() => this.#act(parseFrame(data, isBinary)))
      .catch(async (error: unknown) => {
        await this.#tell(errorFrame(this.#parts.dispatcher.explain(error, "stream")));
      })
      .finally(() => this.#socket.resume());
  }

  async #act(frame: ClientFrame): Promise<void> {
    if (this.#end.signal.aborted) return;
    switch (frame.type) {
      case "subscribe":
        return this.#subscribe(frame);
      case "attach":
        return this.#attach(frame);
      case "input":
        return this.#input(frame);
      case "resize":
        if (this.#attachment(frame.sessionId).mayType)
          await this.#parts.sessions.resize(frame.sessionId, frame.cols, frame.rows);
        return;
      case "ack":
        this.#attached.get(frame.sessionId)?.window.acknowledge(frame.cursor);
        return;
      case "detach":
        this.#attached.get(frame.sessionId)?.end.abort();
        this.#attached.delete(frame.sessionId);
        return;
      case "ping":
        await this.#tell({ type: "pong" });
    }
  }

  /** A second subscription takes the place of the first. */
  #subscribe(frame: Extract<ClientFrame, { type: "subscribe" }>): void {
    const filter = visibleFilter(frame, this.#caller);
    this.#subscription?.abort();
    this.#subscription = new AbortController();
    const signal = AbortSignal.any([this.#end.signal, this.#subscription.signal]);
    this.#run(this.#feedEvents({ ...filter, after: frame.after }, signal));
  }

  async #feedEvents(wanted: Parameters<EventLog["subscribe"]>[0], signal: AbortSignal): Promise<void> {
    let after = wanted.after;
    while (!signal.aborted) {
      try {
        for await (const batch of this.#parts.log.subscribe({ ...wanted, after }, signal)) {
          for (const event of batch) {
            if (signal.aborted) return;
            const blocked = await this.#tell({ type: "event", event });
            after = event.sequence;
            if (blocked && this.#parts.log.head - after > LAG_EVENTS) await this.#tell({ type: "lagged", after });
          }
        }
        return;
      } catch (error) {
        if (!(error instanceof CursorExpired)) throw error;
        after = error.oldest;
        await this.#tell({ type: "resync", after });
      }
    }
  }

  async #attach(frame: Extract<ClientFrame, { type: "attach" }>): Promise<void> {
    const { sessionId } = frame;
    if (frame.input) this.#parts.dispatcher.admit("session.input", this.#caller);
    this.#attached.get(sessionId)?.end.abort();
    this.#attached.delete(sessionId);
    if (this.#attached.size >= MAX_ATTACHED)
      throw new AppError("limit_reached", { limit: "attached sessions", max: MAX_ATTACHED });
    this.#parts.sessions.get(sessionId);
    const cursor = frame.from === "screen" ? await this.#parts.output.size(sessionId) : frame.from;
    const end = new AbortController();
    const attached = { end, window: new AckWindow(cursor), mayType: frame.input };
    this.#attached.set(sessionId, attached);
    if (frame.input && frame.cols !== undefined && frame.rows !== undefined) {
      await this.#parts.sessions.resize(sessionId, frame.cols, frame.rows);
    }
    await this.#tell({ type: "attached", sessionId, cursor, ...this.#parts.sessions.size(sessionId) });
    this.#run(this.#feedOutput(sessionId, attached, AbortSignal.any([this.#end.signal, end.signal])));
  }

  async #feedOutput(sessionId: string, { window }: Attached, signal: AbortSignal): Promise<void> {
    try {
      for await (const chunk of this.#parts.output.read(sessionId, window.sent, signal)) {
        if (signal.aborted) return;
        if (window.full) {
          await this.#tell({ type: "lagged", sessionId, cursor: window.sent });
          await window.opens(signal);
          if (signal.aborted) return;
        }
        window.sent = chunk.cursor + chunk.bytes.length;
        await this.#push(encodeOutput(sessionId, chunk.cursor, chunk.bytes));
      }
    } catch (error) {
      if (!(error instanceof CursorExpired)) throw error;
      throw new AppError("cursor_expired", { sessionId, oldest: error.oldest }, { cause: error });
    }
  }

  async #input(frame: Extract<ClientFrame, { type: "input" }>): Promise<void> {
    const { type: _type, ...input } = frame;
    await this.#parts.dispatcher.call("session.input", input, { caller: this.#caller, signal: this.#end.signal });
  }

  #attachment(sessionId: string): Attached {
    const attached = this.#attached.get(sessionId);
    if (attached === undefined) throw new AppError("not_found", { what: "attached session", id: sessionId });
    return attached;
  }

  #run(feed: Promise<void>): void {
    feed.catch((error: unknown) => this.#tell(errorFrame(this.#parts.dispatcher.explain(error, "stream"))));
  }

  #tell(frame: ServerFrame): Promise<boolean> {
    return this.#push(JSON.stringify(frame));
  }

  /** Resolves when the socket has room again; true if it had to be waited for. */
  #push(data: string | Uint8Array): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.#socket.readyState !== this.#socket.OPEN) return resolve(false);
      const free = this.#socket.bufferedAmount < SOCKET_BUFFER_BYTES;
      this.#socket.send(data, () => free || resolve(true));
      if (free) resolve(false);
      return undefined;
    });
  }
}

function errorFrame(error: AppError): ServerFrame {
  const { type: _type, ...problem }: Problem = problemOf(error);
  return { type: "error", ...problem };
}

function parseFrame(data: Buffer, isBinary: boolean): ClientFrame {
  if (isBinary) throw new AppError("invalid_request", { detail: "Clients send text frames only" });
  try {
    const parsed = ClientFrame.safeParse(parseStrictJsonText(data.toString("utf8")));
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    throw new AppError("invalid_request", { detail: `${issue?.path.join(".")}: ${issue?.message}` });
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    throw new AppError("invalid_request", { detail: error.message }, { cause: error });
  }
}
