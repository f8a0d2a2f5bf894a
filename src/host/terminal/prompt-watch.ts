/**
 * Looks whether the program in front waits for input: after output or input has fallen quiet, never while nothing
 * changes. A look that was overtaken by the terminal says nothing. Rules PTY-36..PTY-39 in docs/spec/terminal.md.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Look } from "./probe/probe.ts";
import type { Prompts } from "./prompts.ts";

export type PromptWatchOptions = {
  readonly prompts: Prompts;
  readonly look: () => Promise<Look | undefined>;
  /** Changes with every byte out and every input. */
  readonly activity: () => string;
  /** Names an instance together with its reader. */
  readonly place: () => { readonly cursor: number; readonly inputs: number };
  /** True: the shell waits at its prompt and that was told; no look is needed. */
  readonly atKnownPrompt: () => boolean;
  /** The kernel alone says that the shell waits for keys, and in which call. */
  readonly onShell: (syscall: unknown) => "prompt" | "reading" | "starting";
};

type Waiting = Extract<Look, { waiting: true }>;

export class PromptWatch {
  readonly #options: PromptWatchOptions;
  #looking = false;
  #found = false;

  constructor(options: PromptWatchOptions) {
    this.#options = options;
  }

  /** Something happened: what was found may be over. */
  stir(): void {
    this.#found = false;
  }

  quiet(): void {
    if (this.#found || this.#looking) return;
    this.#looking = true;
    void this.#look().finally(() => {
      this.#looking = false;
    });
  }

  /** Asks now whether this very instance still waits. */
  async stands(promptId: string): Promise<boolean> {
    const { prompts, atKnownPrompt, activity } = this.#options;
    const { present } = prompts;
    if (present?.promptId !== promptId) return false;
    if (present.shell) return atKnownPrompt();
    const before = activity();
    const look = await this.#see();
    if (look?.waiting !== true || activity() !== before) return false;
    return prompts.present?.promptId === promptId && this.#keyOf(look) === present.key;
  }

  async #look(): Promise<void> {
    const { atKnownPrompt, activity } = this.#options;
    if (atKnownPrompt()) {
      this.#found = true;
      return;
    }
    const before = activity();
    const seen = await this.#see();
    // The next quiet point looks again.
    if (seen === undefined || activity() !== before) return;
    this.#tell(seen);
  }

  /** Output that came before the answer may lie unread: the loop polls once before the answer is believed. */
  async #see(): Promise<Look | undefined> {
    const look = await this.#options.look();
    await nextTurn();
    return look;
  }

  #tell(look: Look): void {
    const { prompts, onShell } = this.#options;
    this.#found = look.waiting;
    if (!look.waiting) {
      if (look.confidence !== "low") prompts.over();
      return;
    }
    const shell = look.kind === "shell" ? onShell(look.evidence["syscall"]) : "reading";
    if (shell === "starting") this.#found = false;
    if (shell !== "reading") return;
    const { program, pid, confidence, evidence } = look;
    const kind = look.kind === "shell" ? "line_editor" : look.kind;
    prompts.tell(this.#keyOf(look), { kind, program, pid, confidence, evidence });
  }

  /** A reader blocked in `read` counts its waits; one that polls wakes for other reasons too. */
  #keyOf({ kind, pid, switches, evidence }: Waiting): string {
    const { cursor, inputs } = this.#options.place();
    const wait = evidence["syscall"] === "read" && switches > 0 ? `switches ${switches}` : `cursor ${cursor}`;
    return `${kind} ${pid} ${inputs} ${wait}`;
  }
}
