/**
 * The thread of all emulators of a host: slow output of one session never holds up the byte path of another. An
 * emulator that fails on some input starts again empty; the thread goes on.
 */
import { type MessagePort, parentPort } from "node:worker_threads";
import type { TerminalModes } from "../../../domain/modes.ts";
import { Emulator } from "./emulator.ts";
import type { FromThread, ScreenContent, ScreenKeyframe, ToThread } from "./messages.ts";

type Slot = { emulator: Emulator; cols: number; rows: number };

class EmulatorThread {
  readonly #port: MessagePort;
  readonly #slots = new Map<number, Slot>();

  constructor(port: MessagePort) {
    this.#port = port;
  }

  serve(): void {
    this.#port.on("message", (message: ToThread) => this.#take(message));
    this.#post({ kind: "ready" });
  }

  #take(message: ToThread): void {
    if (message.kind === "end") this.#port.close();
    else if (message.kind === "create") {
      const { cols, rows } = message;
      const emulator = new Emulator({ ...message, onReply: (text) => this.#reply(message.screen, text) });
      this.#slots.set(message.screen, { emulator, cols, rows });
    } else {
      const slot = this.#slots.get(message.screen);
      if (slot !== undefined) this.#work(slot, message);
      else if ("call" in message) this.#post({ kind: "failed", call: message.call, reason: "the screen is closed" });
    }
  }

  #work(slot: Slot, message: Exclude<ToThread, { kind: "create" | "end" }>): void {
    switch (message.kind) {
      case "feed":
        this.#guarded(slot, message.screen, () => slot.emulator.feed(message.bytes, message));
        this.#post({ kind: "fed", screen: message.screen, bytes: message.bytes.length });
        return;
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
