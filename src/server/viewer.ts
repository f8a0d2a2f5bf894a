/**
 * One WebSocket. It pulls events and output at its own pace from the stores, so that nothing is queued for a slow
 * viewer beyond what its socket holds: it is told that it lags and goes on from its cursor, and nobody else feels it.
 * Rules in docs/spec/streams.md.
 */
import type { WebSocket } from "ws";
import type { ControlDesk } from "../hub/control-desk.ts";
import { CursorExpired, type EventLog } from "../hub/ports.ts";
import type { OutputDesk } from "../hub/output-desk.ts";
import type { SessionDesk } from "../hub/session-desk.ts";
import { AppError } from "../protocol/errors.ts";
import type { Output } from "../protocol/operations.ts";
import { type ClientFrame, DEAD_AFTER_MS, encodeOutput, HEARTBEAT_MS } from "../protocol/stream.ts";
import { AckWindow } from "./ack-window.ts";
import type { Caller } from "./caller.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { parseFrame } from "./frames.ts";
import { FrameQueue } from "./frame-queue.ts";
import { aheadOf, visibleFilter } from "./operations/events.ts";
import { FrameSender } from "./frame-sender.ts";

export type ViewerParts = {
  readonly dispatcher: Dispatcher;
  readonly log: EventLog;
  readonly output: OutputDesk;
  readonly sessions: SessionDesk;
  readonly control: ControlDesk;
  /** When a silent viewer is asked, and when it is given up. */
  readonly heartbeat?: { readonly everyMs: number; readonly deadAfterMs: number } | undefined;
};

/** A viewer this far behind is told so. */
const LAG_EVENTS = 1000;
const HEARTBEAT = { everyMs: HEARTBEAT_MS, deadAfterMs: DEAD_AFTER_MS };
const MAX_ATTACHED = 100;
const CLOSE_REVOKED = 4401;
const CLOSE_GOING_AWAY = 1001;
const CLOSE_POLICY = 1008;
const MAX_BAD_FRAMES = 100;
const MAX_PONG_BACKLOG = 4 * 1024 * 1024;

type Attached = {
  readonly end: AbortController;
  readonly window: AckWindow;
  readonly mayType: boolean;
  /** Counts as somebody who is there, until it is gone. */
  readonly attendance: Disposable | undefined;
};

export class Viewer {
  readonly #socket: WebSocket;
  readonly #sender: FrameSender;
  readonly #queue: FrameQueue;
  readonly #caller: Caller;
  readonly #parts: ViewerParts;
  readonly #end = new AbortController();
  readonly #attached = new Map<string, Attached>();
  #subscription: AbortController | undefined;
  /** Since the peer was last heard. By beats, not by a clock: when we stood still ourselves, its answer lies unread. */
  #silentBeats = 0;
  #badFrames = 0;

  constructor(socket: WebSocket, caller: Caller, parts: ViewerParts) {
    this.#socket = socket;
    this.#sender = new FrameSender(socket);
    this.#queue = new FrameQueue(socket);
    this.#caller = caller;
    this.#parts = parts;
  }

  start(hubEnds: AbortSignal): void {
    const { signal } = this.#end;
    const closeOn = (ended: AbortSignal, code: number, reason: string): void => {
      if (ended.aborted) this.#close(code, reason);
      else ended.addEventListener("abort", () => this.#close(code, reason), { signal });
    };
    const { everyMs, deadAfterMs } = this.#parts.heartbeat ?? HEARTBEAT;
    const heartbeat = setInterval(() => this.#beat(deadAfterMs / everyMs), everyMs);
    this.#socket.on("pong", () => (this.#silentBeats = 0));
    this.#socket.on("ping", (data: Buffer) => this.#answerPing(data));
    this.#socket.on("message", (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    this.#socket.on("error", () => this.#socket.terminate());
    this.#socket.on("close", () => {
      clearInterval(heartbeat);
      this.#end.abort();
      for (const sessionId of this.#attached.keys()) this.#detach(sessionId);
    });
    closeOn(this.#caller.revoked, CLOSE_REVOKED, "revoked");
    closeOn(hubEnds, CLOSE_GOING_AWAY, "the hub goes down");
  }

  /** A peer that pings and doesn't read would have us keep all the answers. */
  #answerPing(data: Buffer): void {
    this.#silentBeats = 0;
    if (this.#socket.bufferedAmount > MAX_PONG_BACKLOG) this.#socket.terminate();
    else this.#socket.pong(data);
  }

  #beat(most: number): void {
    this.#silentBeats += 1;
    if (this.#silentBeats > most) this.#socket.terminate();
    else this.#socket.ping();
  }

  #close(code: number, reason: string): void {
    this.#end.abort();
    this.#socket.close(code, reason);
    // A peer that doesn't answer the close must not keep a revoked stream open.
    setTimeout(() => this.#socket.terminate(), 100).unref();
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#silentBeats = 0;
    try {
      this.#take(parseFrame(data, isBinary));
    } catch (error) {
      this.#fail(error);
      this.#badFrames += 1;
      if (this.#badFrames > MAX_BAD_FRAMES) this.#close(CLOSE_POLICY, "too many bad frames");
    }
  }

  /** What needs nobody else acts at once: an acknowledgement must not wait behind a paste that waits for a program. */
  #take(frame: ClientFrame): void {
    switch (frame.type) {
      case "ping":
        return this.#run(this.#sender.tell({ type: "pong" }));
      case "ack":
        return this.#attached.get(frame.sessionId)?.window.acknowledge(frame.cursor);
      case "subscribe":
        return this.#subscribe(frame);
      case "detach":
      case "attach":
      case "input":
      case "resize":
        return this.#queue.add(frame.sessionId, () => this.#act(frame).catch((error: unknown) => this.#fail(error)));
    }
  }

  async #act(frame: Extract<ClientFrame, { type: "attach" | "detach" | "input" | "resize" }>): Promise<void> {
    if (this.#end.signal.aborted) return;
    switch (frame.type) {
      case "attach":
        return this.#attach(frame);
      case "detach":
        return this.#detach(frame.sessionId);
      case "input":
        return this.#input(frame);
      case "resize":
        return this.#resize(frame);
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
    let after = aheadOf(this.#parts.log, wanted.after);
    if (after !== wanted.after) await this.#sender.tell({ type: "resync", after: after ?? 0 });
    while (!signal.aborted) {
      try {
        for await (const batch of this.#parts.log.subscribe({ ...wanted, after }, signal)) {
          for (const event of batch) {
            if (signal.aborted) return;
            await this.#sender.tell({ type: "event", event });
            after = event.sequence;
          }
          const behind = this.#parts.log.head - (after ?? 0) > LAG_EVENTS;
          if (this.#sender.tookLong(behind)) await this.#sender.tell({ type: "lagged", after });
        }
        return;
      } catch (error) {
        if (!(error instanceof CursorExpired)) throw error;
        after = error.oldest;
        await this.#sender.tell({ type: "resync", after });
      }
    }
  }

  async #attach({ sessionId, from, input, cols, rows }: Extract<ClientFrame, { type: "attach" }>): Promise<void> {
    if (input) this.#parts.dispatcher.admit("session.input", this.#caller);
    this.#parts.sessions.get(sessionId);
    this.#detach(sessionId);
    if (this.#attached.size >= MAX_ATTACHED) {
      throw new AppError("limit_reached", { limit: "attached sessions", max: MAX_ATTACHED });
    }
    if (input && cols !== undefined && rows !== undefined && this.#parts.sessions.isOpen(sessionId)) {
      await this.#parts.sessions.resize(sessionId, { cols, rows }, this.#caller.actor);
    }
    const { cursor, ...shown } = await this.#place(sessionId, from);
    if (this.#end.signal.aborted) return;
    const end = new AbortController();
    const attendance = this.#attend(sessionId, input);
    const attached = { end, window: new AckWindow(cursor), mayType: input, attendance };
    this.#attached.set(sessionId, attached);
    await this.#sender.tell({ type: "attached", sessionId, cursor, ...shown });
    this.#run(this.#feedOutput(sessionId, attached, AbortSignal.any([this.#end.signal, end.signal])));
  }

  /** Where a viewer begins, and what it sees there: a snapshot instead of megabytes of history. */
  async #place(sessionId: string, from: number | "screen") {
    const { output, sessions } = this.#parts;
    // Also where nothing is asked of it: one that is only being made has no output that could be followed.
    const driver = await sessions.running(sessionId).catch(() => undefined);
    if (from === "screen" && driver !== undefined) {
      const shown = await driver.snapshot(sessionId).catch(unlessAway);
      if (shown !== undefined) return { cursor: shown.cursor, ...shown.size, snapshot: shown.ansi };
    }
    const cursor = from === "screen" ? await output.size(sessionId) : from;
    return { cursor, ...sessions.size(sessionId) };
  }

  /** An agent at a stream is no person who attends. */
  #attend(sessionId: string, input: boolean): Disposable | undefined {
    const { control, sessions } = this.#parts;
    if (this.#caller.actor.kind !== "person" || !sessions.isOpen(sessionId)) return undefined;
    return control.attach(sessionId, { input });
  }

  #detach(sessionId: string): void {
    const attached = this.#attached.get(sessionId);
    attached?.end.abort();
    attached?.attendance?.[Symbol.dispose]();
    this.#attached.delete(sessionId);
  }

  async #feedOutput(sessionId: string, { window }: Attached, signal: AbortSignal): Promise<void> {
    try {
      for await (const chunk of this.#parts.output.read(sessionId, window.sent, signal)) {
        if (signal.aborted) return;
        if (window.full) {
          await this.#sender.tell({ type: "lagged", sessionId, cursor: window.sent });
          await window.opens(signal);
          if (signal.aborted) return;
        }
        window.sent = chunk.cursor + chunk.bytes.length;
        await this.#sender.push(encodeOutput(sessionId, chunk.cursor, chunk.bytes));
      }
    } catch (error) {
      if (!(error instanceof CursorExpired)) throw error;
      throw new AppError("cursor_expired", { sessionId, oldest: error.oldest }, { cause: error });
    }
  }

  async #input({ type: _type, ...input }: Extract<ClientFrame, { type: "input" }>): Promise<void> {
    const context = { caller: this.#caller, signal: this.#end.signal };
    const taken = await this.#parts.dispatcher.call("session.input", input, context);
    // What a terminal says by itself, that it has the focus, has no place.
    if ((taken as Output<"session.input">).position > 0) this.#hasTyped(input.sessionId);
  }

  /** Whoever only watched is there from the first key on. */
  #hasTyped(sessionId: string): void {
    const attached = this.#attached.get(sessionId);
    if (attached === undefined || attached.mayType) return;
    attached.attendance?.[Symbol.dispose]();
    this.#attached.set(sessionId, { ...attached, mayType: true, attendance: this.#attend(sessionId, true) });
  }

  async #resize({ sessionId, cols, rows }: Extract<ClientFrame, { type: "resize" }>): Promise<void> {
    const attached = this.#attached.get(sessionId);
    if (attached === undefined) throw new AppError("not_found", { what: "attached session", id: sessionId });
    if (!attached.mayType && !this.#drives(sessionId)) return;
    // Who drives is told by name, and somebody who only looks may have the same.
    this.#parts.dispatcher.admit("session.input", this.#caller);
    await this.#parts.sessions.resize(sessionId, { cols, rows }, this.#caller.actor);
  }

  #drives(sessionId: string): boolean {
    const { kind, id } = this.#caller.actor;
    const { holder } = this.#parts.control.state(sessionId);
    return holder?.kind === kind && holder.id === id;
  }

  #run(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#fail(error));
  }

  #fail(error: unknown): void {
    void this.#sender.tellError(this.#parts.dispatcher.explain(error, "stream"));
  }
}

/** A host that is away has no screen to show now, and comes back: its viewer begins with what was received. */
function unlessAway(error: unknown): undefined {
  const { code } = error as Partial<AppError>;
  if (code !== "host_offline" && code !== "unknown_outcome") throw error;
}
