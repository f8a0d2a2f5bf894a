/**
 * Which question stands now. An instance is told once and is over as soon as something goes in, so that an answer meant
 * for it can't reach another. Rules PTY-36..PTY-39 in docs/spec/terminal.md.
 */
import type { JsonObject } from "../../domain/event.ts";
import type { Frames } from "./frames.ts";

export type PromptInstance = {
  readonly promptId: string;
  /** Differs for every question, also where two look the same. */
  readonly key: string;
  readonly shell: boolean;
  /** A line is awaited, and nothing of it is typed. */
  readonly isEmptyLine: boolean;
  /** By the terminal's modes: a whole line is read at once, or each key as it comes. */
  readonly waitsFor: "line" | "key";
};

export type PromptsOptions = {
  readonly sessionId: string;
  readonly frames: Frames;
  /** Stores the question's text before the question. */
  readonly barrier: () => void;
};

export class Prompts {
  readonly #options: PromptsOptions;
  #present: PromptInstance | undefined;

  constructor(options: PromptsOptions) {
    this.#options = options;
  }

  get present(): PromptInstance | undefined {
    return this.#present;
  }

  tell(key: string, payload: JsonObject): void {
    if (this.#present?.key === key) return;
    const { frames, barrier, sessionId } = this.#options;
    barrier();
    frames.flush();
    const promptId = `${sessionId}.${frames.order + 1}`;
    const { kind } = payload;
    const isEmptyLine = kind === "line" || kind === "line_editor" || kind === "shell";
    const waitsFor = kind === "line" || kind === "password" ? "line" : "key";
    this.#present = { promptId, key, shell: kind === "shell", isEmptyLine, waitsFor };
    frames.event("prompt", { ...payload, promptId });
  }

  /** Answered: what went in is told by itself. */
  over(): void {
    this.#present = undefined;
  }

  /** Nobody waits any more though nothing went in: its reader gave up, or was ended. */
  gone(): void {
    const gone = this.#present;
    this.#present = undefined;
    if (gone === undefined || gone.shell) return;
    this.#options.frames.event("prompt_decision", { promptId: gone.promptId, status: "gone" });
  }
}
