/**
 * Lines of a person's own, which is driving: it takes control from an agent. Typed so that every program takes them for lines; a shell
 * at its prompt would run them, and gets nothing. Rules CNV-25, PMT-86.
 */
import type { Actor } from "../domain/actor.ts";
import type { StoredEvent } from "../domain/event.ts";
import { Turns } from "../lib/turns.ts";
import type { BlockDesk } from "./block-desk.ts";
import type { Journal } from "./journal.ts";
import type { DriverInput, InputTaken } from "./ports.ts";
import type { SessionDesk } from "./session-desk.ts";
import { woken } from "./woken.ts";

export type TypistParts = {
  readonly journal: Journal;
  readonly sessions: Pick<SessionDesk, "input">;
  readonly blocks: BlockDesk;
};

/** Of a program that shows nothing of what it reads, and isn't seen to read: then Enter may be taken for part of a paste. */
const HEARD_MS = 5_000;

export class Typist {
  readonly #parts: TypistParts;
  /** Between a text and its Enter nobody else's text may come. */
  readonly #turns = new Turns();

  constructor(parts: TypistParts) {
    this.#parts = parts;
  }

  line(sessionId: string, text: string, by: Actor): Promise<void> {
    return this.#turns.run(sessionId, async () => {
      const canonical = this.#parts.blocks.question(sessionId)?.canonical === true;
      if (!canonical) await this.#inputAndHeard(sessionId, text, by);
      await this.#input(sessionId, canonical ? `${text}\r` : "\r", by);
    });
  }

  async #input(sessionId: string, text: string, by: Actor): Promise<InputTaken> {
    const { blocks, sessions } = this.#parts;
    const input: DriverInput = { bytes: Buffer.from(text), by, class: "drive", notAtShell: true };
    const taken = await sessions.input(sessionId, input);
    blocks.noteInput(sessionId, by.id, taken.position);
    return taken;
  }

  /**
   * Until the program prints something behind it, as an echo does, or waits again: a program that reads keys takes text
   * and Enter in one read for a paste.
   */
  async #inputAndHeard(sessionId: string, text: string, by: Actor): Promise<void> {
    const waiting = new Set<() => void>();
    let heard = { printedTo: 0, waitsAt: 0 };
    using _observing = this.#parts.journal.log.observe((events) => {
      for (const event of events) if (event.sessionId === sessionId) heard = heardWith(heard, event);
      for (const wake of waiting) wake();
    });
    const { position, cursor } = await this.#input(sessionId, text, by);
    const signal = AbortSignal.timeout(HEARD_MS);
    while (heard.printedTo <= cursor && heard.waitsAt <= position && !signal.aborted) await woken(waiting, signal);
  }
}

/** How far a program has printed, and the position at which it was last seen to wait. */
type Heard = { readonly printedTo: number; readonly waitsAt: number };

function heardWith(heard: Heard, { type, payload, position = 0 }: StoredEvent): Heard {
  const { cursor = 0, length = 0 } = payload as { cursor?: number; length?: number };
  if (type === "stdout") return { ...heard, printedTo: cursor + length };
  return type === "prompt" ? { ...heard, waitsAt: position } : heard;
}
