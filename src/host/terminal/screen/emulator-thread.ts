/**
 * The thread of all emulators of a host: slow output of one session holds up neither the byte path nor, for long, the screen of
 * another: they draw in turns. An emulator that fails on some input starts again empty; the thread goes on.
 */
import { type MessagePort, parentPort } from "node:worker_threads";
import type { TerminalModes } from "../../../domain/modes.ts";
import { Emulator } from "./emulator.ts";
import type { FromThread, ScreenContent, ScreenKeyframe, ToThread } from "./messages.ts";
import { Pace } from "./pace.ts";

type Work = Exclude<ToThread, { kind: "create" | "end" }>;
type Feed = Extract<Work, { kind: "feed" }>;

type Slot = {
  emulator: Emulator;
  cols: number;
  rows: number;
  readonly queue: Work[];
  readonly pace: Pace;
  /** How much is drawn before the clock is looked at. */
  sliceBytes: number;
};

/** How long a screen draws before the next one does. */
const TURN_MS = 20;
const SLICE_MAX_BYTES = 16 * 1024;
/** On the largest screen there are sequences of eight bytes that take a tenth of a second. */
const SLICE_MIN_BYTES = 64;

class EmulatorThread {
  readonly #port: MessagePort;
  readonly #slots = new Map<number, Slot>();
  #isTurning = false;

  constructor(port: MessagePort) {
    this.#port = port;
  }

  serve(): void {
    this.#port.on("message", (message: ToThread) => this.#take(message));
    this.#post({ kind: "ready" });
  }

  #take(message: ToThread): void {
    if (message.kind === "end") {
      this.#slots.clear();
      this.#port.close();
    } else if (message.kind === "create") {
      const { cols, rows } = message;
      const emulator = new Emulator({ ...message, onReply: (text) => this.#reply(message.screen, text) });
      this.#slots.set(message.screen, {
        emulator,
        cols,
        rows,
        queue: [],
        pace: new Pace(),
        sliceBytes: SLICE_MIN_BYTES,
      });
    } else {
      const slot = this.#slots.get(message.screen);
      slot?.queue.push(message);
      if (slot !== undefined && !this.#isTurning) this.#turns();
      else if (slot === undefined && "call" in message) {
        this.#post({ kind: "failed", call: message.call, reason: "the screen is closed" });
      }
    }
  }

  /** Each screen that has something to do does some of it; what came meanwhile is taken in between. */
  #turns(): void {
    for (const [screen, slot] of this.#slots) this.#turn(slot, screen);
    this.#isTurning = [...this.#slots.values()].some(({ queue }) => queue.length > 0);
    if (this.#isTurning) setImmediate(() => this.#turns());
  }

  #turn(slot: Slot, screen: number): void {
    const { queue } = slot;
    const until = performance.now() + TURN_MS;
    let bytes = 0;
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      if (next.kind === "feed") bytes += this.#feed(slot, next);
      else this.#work(slot, next);
      if (performance.now() >= until) break;
    }
    if (bytes > 0) this.#post({ kind: "fed", screen, bytes, bytesPerMs: slot.pace.bytesPerMs });
  }

  /** Draws a slice; the rest is the next thing to do. */
  #feed(slot: Slot, feed: Feed): number {
    const bytes = feed.bytes.subarray(0, slot.sliceBytes);
    const began = cpuMs();
    this.#guarded(slot, feed.screen, () => slot.emulator.feed(bytes, feed));
    const tookMs = cpuMs() - began;
    if (bytes.length < feed.bytes.length) slot.queue.unshift({ ...feed, bytes: feed.bytes.subarray(bytes.length) });
    // Of single keys it would tell what a call costs.
    if (bytes.length >= SLICE_MIN_BYTES) slot.pace.drew(bytes.length, tookMs);
    if (tookMs > TURN_MS / 2) slot.sliceBytes = Math.max(SLICE_MIN_BYTES, slot.sliceBytes / 4);
    else if (tookMs < TURN_MS / 8) slot.sliceBytes = Math.min(SLICE_MAX_BYTES, slot.sliceBytes * 2);
    return bytes.length;
  }

  #work(slot: Slot, message: Exclude<Work, Feed>): void {
    switch (message.kind) {
      case "resize":
        slot.cols = message.cols;
        slot.rows = message.rows;
        this.#guarded(slot, message.screen, () => slot.emulator.resize(message.cols, message.rows));
        return;
      case "restart":
        this.#restart(slot, message.screen, seed(message.modes));
        return;
      case "read":
        this.#answer(message.call, () => slot.emulator.read());
        return;
      case "keyframe":
        this.#answer(message.call, () => slot.emulator.write(message.limits));
        return;
      case "close":
        slot.emulator.close();
        this.#slots.delete(message.screen);
    }
  }

  #guarded(slot: Slot, screen: number, work: () => void): void {
    try {
      work();
    } catch {
      this.#restart(slot, screen, "");
    }
  }

  #restart(slot: Slot, screen: number, keyframe: string): void {
    slot.emulator.close();
    const onReply = (text: string): void => this.#reply(screen, text);
    slot.emulator = new Emulator({ cols: slot.cols, rows: slot.rows, keyframe, approximate: true, onReply });
  }

  #answer(call: number, work: () => ScreenContent | ScreenKeyframe): void {
    try {
      this.#post({ kind: "answer", call, result: work() });
    } catch (error) {
      this.#post({ kind: "failed", call, reason: error instanceof Error ? error.message : String(error) });
    }
  }

  #reply(screen: number, text: string): void {
    this.#post({ kind: "reply", screen, text });
  }

  #post(message: FromThread): void {
    this.#port.postMessage(message, []);
  }
}

/** Of this thread alone: what else the machine does says nothing about the output. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function seed(modes: TerminalModes): string {
  let text = "";
  if (modes.altScreen) text += "\u001B[?1047h";
  if (modes.bracketedPaste) text += "\u001B[?2004h";
  if (modes.mouse) text += "\u001B[?1002h\u001B[?1006h";
  if (modes.applicationCursor) text += "\u001B[?1h";
  if (modes.focus) text += "\u001B[?1004h";
  return text;
}

if (parentPort !== null) new EmulatorThread(parentPort).serve();
