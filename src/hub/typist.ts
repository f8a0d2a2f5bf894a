/**
 * Lines of a person's own, which is driving: it takes control from an agent. Typed so that every program takes them for lines; a shell
 * at its prompt would run them, and gets nothing. Rules CNV-25, PMT-86.
 */
import type { Actor } from "../domain/actor.ts";
import type { StoredEvent } from "../domain/event.ts";
import { Turns } from "../lib/turns.ts";
import type { BlockDesk } from "./block-desk.ts";
import type { Journal } from "./journal.ts";
import type { DriverInput } from "./ports.ts";
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

  /** The position at which it went in. */
  async #input(sessionId: string, text: string, by: Actor): Promise<number> {
    const { blocks, sessions } = this.#parts;
    const input: DriverInput = { bytes: Buffer.from(text), by, class: "drive", notAtShell: true };
    const { position } = await sessions.input(sessionId, input);
    blocks.noteInput(sessionId, by.id, position);
    return position;
  }

  /** Until the program has read it: a program that reads keys takes text and Enter in one read for a paste. */
  async #inputAndHeard(sessionId: string, text: string, by: Actor): Promise<void> {
    const waiting = new Set<() => void>();
    let typedAt = Number.MAX_SAFE_INTEGER;
    let heardAt = 0;
    using _observing = this.#parts.journal.log.observe((events) => {
      for (const it of events) if (it.sessionId === sessionId && isSignOfReading(it)) heardAt = it.position ?? heardAt;
      if (heardAt > typedAt) for (const wake of waiting) wake();
    });
    typedAt = await this.#input(sessionId, text, by);
    if (heardAt <= typedAt) await woken(waiting, AbortSignal.timeout(HEARD_MS));
  }
}

/** An echo, or that it waits again. */
function isSignOfReading({ type }: StoredEvent): boolean {
  return type === "stdout" || type === "prompt";
}
