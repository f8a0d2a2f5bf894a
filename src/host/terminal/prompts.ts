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
    this.#present = { promptId, key, shell: payload["kind"] === "shell" };
    frames.event("prompt", { ...payload, promptId });
  }

  /** Answered, or nobody waits any more. */
  over(): void {
    this.#present = undefined;
  }
}
