/**
 * Looks whether the program in front waits for input: after output or input has fallen quiet, never while nothing
 * changes. A look that was overtaken by the terminal says nothing. Rules PTY-36..PTY-39 in docs/spec/terminal.md.
 */
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
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

/** Looks overtaken by the last of a question's own paint, or by another program's output, say nothing about it. */
const STANDS_LOOKS = 5;
/** A reader, or what relays the terminal to it, that was met between two waits is back in the next within a moment. */
const BETWEEN_MS = [1, 5, 20, 50];
const AGAIN_MS = [30, 150, 600, 2_000, 6_000];
/** What was typed reaches its reader through the kernel's own queue of work: on a busy machine later than our silence. */
const UNWOKEN_MS = 200;
const LONG_SILENCE_MS = 1_000;

type Waiting = Extract<Look, { waiting: true }>;

export class PromptWatch {
  readonly #options: PromptWatchOptions;
  #looking = false;
  #found = false;
  /** The wait that was seen last, and how often something had gone in by then. */
  #lastWait: { readonly pid: number; readonly switches: number; readonly inputs: number } | undefined;

  constructor(options: PromptWatchOptions) {
    this.#options = options;
  }

  /** Something happened: what was found may be over. */
  stir(): void {
    this.#found = false;
  }

  quiet(ms: number): void {
    if (this.#found || this.#looking) return;
    this.#looking = true;
    void this.#look(ms).finally(() => {
      this.#looking = false;
    });
  }

  /** Somebody asks for the status. A program that has long been silent is looked at by itself only every few seconds. */
  lookOnRequest(silentMs: number): void {
    if (silentMs >= LONG_SILENCE_MS) this.quiet(silentMs);
  }

  /** Asks now whether this very instance still waits. */
  async stands(promptId: string): Promise<boolean> {
    const { prompts, atKnownPrompt, activity } = this.#options;
    const { present } = prompts;
    if (present?.promptId !== promptId) return false;
    if (present.shell) return atKnownPrompt();
    const betweenMs = [...BETWEEN_MS];
    for (let overtaken = 0; overtaken < STANDS_LOOKS;) {
      const before = activity();
      const look = await this.#see();
      if (prompts.present?.promptId !== promptId) return false;
      if (activity() !== before) overtaken += 1;
      else if (look?.waiting === true && this.#keyOf(look) === present.key) {
        this.#noteWait(look);
        return true;
      } else if (look?.waiting !== true && betweenMs.length > 0) await pause(betweenMs.shift());
      else {
        if (look !== undefined) this.#tell(look);
        return this.#refused(promptId);
      }
    }
    return this.#refused(promptId);
  }

  /** What is said to be gone must be told anew if it waits: who was refused waits for the next one, and nothing else may happen. */
  #refused(promptId: string): false {
    const { prompts } = this.#options;
    if (prompts.present?.promptId === promptId) prompts.over();
    this.#found = false;
    for (const ms of AGAIN_MS) setTimeout(() => this.quiet(ms), ms).unref();
    return false;
  }

  async #look(quietMs: number): Promise<void> {
    const { atKnownPrompt, activity } = this.#options;
    if (atKnownPrompt()) {
      this.#found = true;
      return;
    }
    const before = activity();
    const seen = await this.#see();
    // The next quiet point looks again.
    if (seen === undefined || activity() !== before) return;
    if (quietMs < UNWOKEN_MS && seen.waiting && this.#hasNotWoken(seen)) return;
    this.#tell(seen);
  }

  /** The very wait from before the last input: its reader has yet to wake for it, and asks nothing new. */
  #hasNotWoken({ pid, switches }: Waiting): boolean {
    const last = this.#lastWait;
    if (last === undefined || switches === 0) return false;
    return last.pid === pid && last.switches === switches && last.inputs !== this.#options.place().inputs;
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
      if (look.confidence !== "low") prompts.gone();
      return;
    }
    const shell = look.kind === "shell" ? onShell(look.evidence["syscall"]) : "reading";
    if (shell === "starting") this.#found = false;
    if (shell !== "reading") return;
    this.#noteWait(look);
    const { program, pid, confidence, evidence } = look;
    const kind = look.kind === "shell" ? "line_editor" : look.kind;
    prompts.tell(this.#keyOf(look), { kind, program, pid, confidence, evidence });
  }

  #noteWait({ pid, switches }: Waiting): void {
    this.#lastWait = { pid, switches, inputs: this.#options.place().inputs };
  }

  /** A reader blocked in `read` counts its waits; one that polls wakes for other reasons too. */
  #keyOf({ kind, pid, switches, evidence }: Waiting): string {
    const { cursor, inputs } = this.#options.place();
    const wait = evidence["syscall"] === "read" && switches > 0 ? `switches ${switches}` : `cursor ${cursor}`;
    return `${kind} ${pid} ${inputs} ${wait}`;
  }
}
