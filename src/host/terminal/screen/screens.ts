/**
 * The main thread's end of the emulators' thread: one thread for all screens of the process. When the thread dies, what
 * waits is rejected, every screen is lost, and the next one that is made starts a new thread.
 */
import type { Worker } from "node:worker_threads";
import { startThread } from "../../../lib/thread.ts";
import type { TerminalModes } from "../../../domain/modes.ts";
import type { Creation, FromThread, KeyframeLimits, ScreenContent, ScreenKeyframe, ToThread } from "./messages.ts";

export type { ScreenContent, ScreenKeyframe } from "./messages.ts";

export interface Screen {
  /** `answer: false` for output whose queries were answered before. Takes its own copy. */
  feed(bytes: Uint8Array, options?: { readonly answer: boolean }): void;
  resize(cols: number, rows: number): void;
  /** Empty again, with these modes set and the mark of having skipped something. */
  restart(modes: TerminalModes): void;
  read(): Promise<ScreenContent>;
  /** Output that brings a terminal that was just reset into this state, with up to 1,000 lines of scrollback. */
  serialize(): Promise<string>;
  keyframe(limits: KeyframeLimits): Promise<ScreenKeyframe>;
  /** Bytes that were fed and are not on the screen yet. */
  readonly backlog: number;
  /** How much it draws in a millisecond of processor time. Undefined: not known yet. */
  readonly bytesPerMs: number | undefined;
  close(): void;
}

export type ScreenOptions = Creation & {
  readonly onReply?: ((bytes: Uint8Array) => void) | undefined;
  /** The thread has done some of the work. */
  readonly onProgress?: (() => void) | undefined;
  /** The screen is lost with its thread. */
  readonly onLost?: (() => void) | undefined;
};

/** A screen that is too large to write down is a mistake of its program, not of ours. */
const SNAPSHOT_LIMITS: KeyframeLimits = { scrollback: 1_000, maxBytes: 4 * 1024 * 1024 };
const THREAD_MEGABYTES = 1_024;
const SILENCE_MS = 5_000;

type PendingCall = { readonly resolve: (result: never) => void; readonly reject: (error: Error) => void };

type Thread = { readonly worker: Worker; readonly ready: Promise<void>; readonly gone: Promise<void> };

export class Screens {
  #thread: Thread | undefined;
  readonly #screens = new Map<number, ThreadScreen>();
  readonly #calls = new Map<number, PendingCall>();
  #last = 0;
  #closed = false;
  readonly #silenceMs: number;
  #heardAt = 0;
  #watchdog: NodeJS.Timeout | undefined;

  private constructor(silenceMs: number) {
    this.#silenceMs = silenceMs;
  }

  /** A thread that says nothing for `silenceMs` though it has work is ended; the screens are made anew. */
  static async open({ silenceMs = SILENCE_MS }: { readonly silenceMs?: number } = {}): Promise<Screens> {
    const screens = new Screens(silenceMs);
    await screens.#running().ready;
    return screens;
  }

  create(options: ScreenOptions): Screen {
    if (this.#closed) throw new Error("the screens are closed");
    this.#running();
    const id = this.#next();
    const screen = new ThreadScreen(id, options, {
      post: (message) => {
        this.#watch();
        this.#thread?.worker.postMessage(message, transfer(message));
      },
      call: (message) => this.#call(message),
      gone: () => this.#screens.delete(id),
    });
    this.#screens.set(id, screen);
    const { cols, rows, keyframe, approximate } = options;
    this.#thread?.worker.postMessage({ kind: "create", screen: id, cols, rows, keyframe, approximate }, []);
    return screen;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watchdog);
    const thread = this.#thread;
    if (thread === undefined) return;
    thread.worker.postMessage({ kind: "end" } satisfies ToThread, []);
    await thread.gone;
  }

  #running(): Thread {
    this.#thread ??= this.#start();
    return this.#thread;
  }

  #start(): Thread {
    const url = new URL("emulator-thread.ts", import.meta.url);
    this.#heardAt = performance.now();
    const resourceLimits = { maxOldGenerationSizeMb: THREAD_MEGABYTES };
    const worker = startThread(url, { name: "screens", resourceLimits });
    const ready = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    // Whoever doesn't wait for it learns of the failure by the loss of its screen.
    ready.promise.catch(() => undefined);
    let cause = new Error("it ended");
    worker.on("message", (message: FromThread) => {
      this.#heardAt = performance.now();
      if (message.kind === "ready") ready.resolve();
      else this.#take(message);
    });
    worker.on("error", (error) => (cause = error instanceof Error ? error : new Error(String(error))));
    worker.on("exit", () => {
      const lost = new Error("The thread of the screens ended", { cause });
      ready.reject(lost);
      this.#lost(lost);
      gone.resolve();
    });
    return { worker, ready: ready.promise, gone: gone.promise };
  }

  /** A sequence of output that the thread doesn't come out of costs what it holds, not every screen for ever. */
  #watch(): void {
    if (this.#watchdog !== undefined) return;
    this.#heardAt = performance.now();
    this.#watchdog = setInterval(() => {
      const isBusy = this.#calls.size > 0 || [...this.#screens.values()].some((it) => it.backlog > 0);
      if (isBusy && performance.now() - this.#heardAt > this.#silenceMs) void this.#thread?.worker.terminate();
      if (isBusy) return;
      clearInterval(this.#watchdog);
      this.#watchdog = undefined;
    }, this.#silenceMs / 5);
    this.#watchdog.unref();
  }

  #take(message: Exclude<FromThread, { kind: "ready" }>): void {
    switch (message.kind) {
      case "fed":
        this.#screens.get(message.screen)?.fed(message);
        return;
      case "reply":
        this.#screens.get(message.screen)?.replied(message.text);
        return;
      case "answer":
        this.#settle(message.call)?.resolve(message.result as never);
        return;
      case "failed":
        this.#settle(message.call)?.reject(new Error(message.reason));
    }
  }

  #call<Result>(message: (call: number) => ToThread): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      if (this.#thread === undefined) reject(new Error("The thread of the screens ended"));
      const call = this.#next();
      this.#calls.set(call, { resolve, reject });
      this.#watch();
      this.#thread?.worker.postMessage(message(call), []);
    });
  }

  #settle(call: number): PendingCall | undefined {
    const pending = this.#calls.get(call);
    this.#calls.delete(call);
    return pending;
  }

  #lost(error: Error): void {
    this.#thread = undefined;
    const calls = [...this.#calls.values()];
    const screens = [...this.#screens.values()];
    this.#calls.clear();
    this.#screens.clear();
    for (const call of calls) call.reject(error);
    for (const screen of screens) screen.lost();
  }

  #next(): number {
    this.#last += 1;
    return this.#last;
  }
}

type Door = {
  readonly post: (message: ToThread) => void;
  readonly call: <Result>(message: (call: number) => ToThread) => Promise<Result>;
  readonly gone: () => void;
};

class ThreadScreen implements Screen {
  readonly #id: number;
  readonly #options: ScreenOptions;
  readonly #door: Door;
  #backlog = 0;
  #bytesPerMs: number | undefined;
  #closed = false;

  constructor(id: number, options: ScreenOptions, door: Door) {
    this.#id = id;
    this.#options = options;
    this.#door = door;
  }

  get backlog(): number {
    return this.#backlog;
  }

  get bytesPerMs(): number | undefined {
    return this.#bytesPerMs;
  }

  feed(bytes: Uint8Array, options: { readonly answer: boolean } = { answer: true }): void {
    if (this.#closed || bytes.length === 0) return;
    this.#backlog += bytes.length;
    this.#door.post({ kind: "feed", screen: this.#id, bytes: new Uint8Array(bytes), answer: options.answer });
  }

  resize(cols: number, rows: number): void {
    if (!this.#closed) this.#door.post({ kind: "resize", screen: this.#id, cols, rows });
  }

  restart(modes: TerminalModes): void {
    if (!this.#closed) this.#door.post({ kind: "restart", screen: this.#id, modes });
  }

  async read(): Promise<ScreenContent> {
    this.#mustBeOpen();
    return this.#door.call<ScreenContent>((call) => ({ kind: "read", screen: this.#id, call }));
  }

  async serialize(): Promise<string> {
    return (await this.keyframe(SNAPSHOT_LIMITS)).data;
  }

  async keyframe(limits: KeyframeLimits): Promise<ScreenKeyframe> {
    this.#mustBeOpen();
    return this.#door.call<ScreenKeyframe>((call) => ({ kind: "keyframe", screen: this.#id, call, limits }));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#door.post({ kind: "close", screen: this.#id });
    this.#door.gone();
  }

  fed({ bytes, bytesPerMs }: Extract<FromThread, { kind: "fed" }>): void {
    this.#backlog -= bytes;
    this.#bytesPerMs = bytesPerMs;
    this.#options.onProgress?.();
  }

  replied(text: string): void {
    this.#options.onReply?.(Buffer.from(text, "utf8"));
  }

  lost(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#options.onLost?.();
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new Error("the screen is closed");
  }
}

/** Bytes that are ours alone change hands instead of being copied. */
function transfer(message: ToThread): ArrayBuffer[] {
  return message.kind === "feed" ? [message.bytes.buffer as ArrayBuffer] : [];
}
