/**
 * Lines of a person's own, which is driving: it takes control from an agent. Typed so that every program takes them for lines; a shell
 * at its prompt would run them, and gets nothing. Rules CNV-25, PMT-86.
 */
import type { Actor } from "../domain/actor.ts";
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

/** A program that reads keys takes text and Enter in one read for a paste. */
const ECHO_MS = 250;

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
      if (canonical) return this.#input(sessionId, `${text}\r`, by);
      const echoed = this.#printed(sessionId);
      await this.#input(sessionId, text, by);
      await echoed;
      await this.#input(sessionId, "\r", by);
    });
  }

  async #input(sessionId: string, text: string, by: Actor): Promise<void> {
    const { blocks, sessions } = this.#parts;
    const input: DriverInput = { bytes: Buffer.from(text), by, class: "drive", notAtShell: true };
    const { position } = await sessions.input(sessionId, input);
    blocks.noteInput(sessionId, by.id, position);
  }

  async #printed(sessionId: string): Promise<void> {
    const waiting = new Set<() => void>();
    using _observing = this.#parts.journal.log.observe((events) => {
      const isEcho = events.some((it) => it.type === "stdout" && it.sessionId === sessionId);
      if (isEcho) for (const wake of waiting) wake();
    });
    await woken(waiting, AbortSignal.timeout(ECHO_MS));
  }
}
