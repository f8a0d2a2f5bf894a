/**
 * Tells blocks and the shell's prompts as events, from what the shell's marks and the kernel say. The rules are in
 * domain/blocks.ts; here are its clock, its retries and those who wait for it. Rules PTY-20..PTY-31.
 */
import type { BlockFact, BlockRun, Integration, Mode, Outcome, Place, Refusal } from "../../domain/blocks.ts";
import { ShellBlocks } from "../../domain/blocks.ts";
import type { Actor } from "../../domain/actor.ts";
import type { Json, JsonObject } from "../../domain/event.ts";
import type { Mark } from "../../domain/marks.ts";
import { redactText } from "../../domain/redaction/redact-text.ts";
import type { Frames } from "./frames.ts";
import type { Prompts } from "./prompts.ts";

export type BlockBegin = {
  readonly seq: number;
  readonly cursor: number;
  readonly position: number;
  readonly began_at: number;
};

/** Each is called once, when the block is over. */
export type BlockEnd = {
  /** Before anybody knows. */
  readonly onEnd?: () => void;
  readonly cleanUp: () => void;
};

export type BlockTrackerOptions = {
  readonly frames: Frames;
  readonly prompts: Prompts;
  /** The second factor: the shell is blocked at its prompt now. */
  readonly atPrompt: () => boolean;
  /** It has read what was typed, and waits anew since. */
  readonly hasTakenInput: () => boolean;
  /** Bytes that came from the terminal. */
  readonly received: () => number;
  readonly shellCwd: () => string | undefined;
  /** Names the shell's prompt instance. */
  readonly promptKey: () => string;
  /** After this a block that the shell has not begun counts as begun. */
  readonly beginMs: number;
  readonly onPrompt: () => void;
  /** A block of this actor runs now, or no longer. */
  readonly onRun: (isRunning: boolean, by: Actor | undefined) => void;
};

export class BlockTracker {
  readonly #options: BlockTrackerOptions;
  readonly #blocks = new ShellBlocks();
  readonly #waiting = new Set<() => void>();
  #begun: PromiseWithResolvers<BlockBegin> | undefined;
  #onEnd: (() => void) | undefined;
  #cleanUp: (() => void) | undefined;
  /** The block that is told of, and up to where. */
  #open: { readonly blockId: string; readonly cursor: number } | undefined;
  #delta: NodeJS.Timeout | undefined;
  #endsTold = 0;
  /** Somebody who has just typed waits to see it. */
  #isAwaited = false;
  /** What ends a command was pressed or asked for since it was submitted. */
  #isCut = false;
  #asking: NodeJS.Timeout | NodeJS.Immediate | undefined;

  constructor(options: BlockTrackerOptions) {
    this.#options = options;
  }

  get mode(): Mode {
    return this.#blocks.mode;
  }

  /** By the shell's own word it runs a command. */
  get hasBegun(): boolean {
    return this.#blocks.integration === "marks" && this.#blocks.hasBegun;
  }

  /** By its own word it runs no command, so that it would say when it begins one or shows another prompt. */
  get mustTellPrompt(): boolean {
    return this.#blocks.integration === "marks" && !this.#blocks.hasBegun;
  }

  get run(): BlockRun | undefined {
    return this.#blocks.run;
  }

  get integration(): Integration {
    return this.#blocks.integration;
  }

  get cwd(): string | undefined {
    return this.#blocks.cwd ?? this.#options.shellCwd();
  }

  /** A block runs whose shell has not said that it is done, and was not cut off before it could. */
  get mustTellItsEnd(): boolean {
    return this.#open !== undefined && this.#blocks.doneAt === undefined && !this.#isCut;
  }

  get refusal(): Refusal | undefined {
    return this.#blocks.refusal;
  }

  get nextSeq(): number {
    return this.#blocks.nextSeq;
  }

  /** Resolves when the block has begun. */
  submit(run: BlockRun, { onEnd, cleanUp }: BlockEnd): Promise<BlockBegin> {
    this.#isCut = false;
    const begun = Promise.withResolvers<BlockBegin>();
    this.#begun = begun;
    this.#onEnd = onEnd;
    this.#cleanUp = cleanUp;
    this.#tell(this.#blocks.submit(run, this.#place()));
    const late = setTimeout(() => this.#begun === begun && this.#overdue(), this.#options.beginMs);
    return begun.promise.finally(() => clearTimeout(late));
  }

  /** `isLineRead`: nobody gets any of it before its line is ended. */
  touch(bytes: Uint8Array, { isLineRead }: { readonly isLineRead: boolean }): void {
    this.#isAwaited = true;
    this.#isCut ||= bytes.some((byte) => CUTS.has(byte));
    const last = bytes.at(-1);
    this.#blocks.touch({
      entered: bytes.some((byte) => LINE_ENDS.has(byte)),
      isHalf: isLineRead && last !== undefined && !LINE_ENDS.has(last) && !CUTS.has(last),
    });
  }

  cancel(): void {
    this.#isCut = true;
    this.#blocks.cancel();
  }

  /** How often the shell has said that it is done with a command. */
  get endsTold(): number {
    return this.#endsTold;
  }

  mark(mark: Mark): void {
    if (mark.kind === "command_done" || mark.kind === "prompt_start") this.#endsTold += 1;
    this.#tell(this.#blocks.mark(mark, this.#place()));
    this.#askSoon();
  }

  /** Bytes of the block came. */
  output(): void {
    if ((this.#delta !== undefined && !this.#isAwaited) || this.#open === undefined) return;
    clearTimeout(this.#delta);
    const delayMs = this.#isAwaited ? ECHO_MS : DELTA_MS;
    this.#isAwaited = false;
    this.#delta = setTimeout(() => {
      this.#delta = undefined;
      this.#tellDelta(Math.min(this.#options.frames.cursor, this.#blocks.doneAt ?? Infinity));
    }, delayMs);
  }

  /** The kernel says so, asked by somebody else; it counts if the marks say so too. */
  confirm(): void {
    if (this.#blocks.isUnbegun && !this.#options.hasTakenInput()) return;
    this.#tell(this.#blocks.confirm(this.#place()));
  }

  /** The kernel alone says so, at a quiet point. */
  kernelPrompt(): void {
    this.#tell(this.#blocks.kernelPrompt(this.#place(), this.#options.shellCwd()));
  }

  exited(outcome: Outcome): void {
    this.#tell(this.#blocks.exited(outcome, this.#place()));
    this.#wake();
  }

  respawned(outcome: Outcome): void {
    this.#tell(this.#blocks.respawned(outcome, this.#place()));
  }

  /** True when the shell's prompt or its end is seen in time. */
  async seenWithin(timeoutMs: number): Promise<boolean> {
    if (this.#settled()) return true;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutMs);
    this.#waiting.add(resolve);
    await promise;
    this.#waiting.delete(resolve);
    clearTimeout(timer);
    return this.#settled();
  }

  #settled(): boolean {
    const { refusal } = this.#blocks;
    return refusal === undefined || refusal === "half_line" || refusal === "gone";
  }

  #overdue(): void {
    this.#tell(this.#blocks.overdue());
    this.#askSoon();
  }

  #askSoon(): void {
    if (!this.#blocks.awaitsKernel || this.#asking !== undefined) return;
    this.#asking = setImmediate(() => this.#ask(0));
  }

  /**
   * The shell blocks a moment after it has shown its prompt: asked again at once, then in small steps. Its answer is
   * about now, so what it wrote up to now is read first: the mark that raised the question may be an old one.
   */
  #ask(attempt: number, blocked?: { readonly received: number; readonly times: number }): void {
    this.#asking = undefined;
    if (!this.#blocks.awaitsKernel) return;
    const { isUnbegun } = this.#blocks;
    const isThere = this.#options.atPrompt() && (!isUnbegun || this.#options.hasTakenInput());
    if (!isThere) return this.#askLater(attempt + 1);
    const received = this.#options.received();
    const times = (blocked?.times ?? 0) + 1;
    // A background job that never stops printing must not keep the prompt from being told.
    const allRead = blocked?.received === received || times >= ASK_AT_ONCE;
    if (allRead) return this.#tell(this.#blocks.confirm(this.#place()));
    const again = (): void => this.#ask(attempt, { received, times });
    // A mark of the prompt itself is told within a moment. After an older one, what the shell wrote since may still be
    // on its way through the kernel.
    this.#asking = attempt < ASK_SOON && !isUnbegun ? setImmediate(again) : setTimeout(again, KERNEL_MS);
  }

  #askLater(attempt: number): void {
    if (attempt >= ASK_ATTEMPTS) return; // the next quiet point asks
    const ask = (): void => this.#ask(attempt);
    this.#asking = attempt < ASK_AT_ONCE ? setImmediate(ask) : setTimeout(ask, 1 + Math.floor(attempt / 50));
  }

  #tell(facts: readonly BlockFact[]): void {
    for (const fact of facts) {
      if (fact.type === "begin") this.#tellBegin(fact);
      if (fact.type === "end") this.#tellEnd(fact);
      if (fact.type === "prompt") this.#tellPrompt(fact);
    }
  }

  #tellBegin({ run, begin }: Extract<BlockFact, { type: "begin" }>): void {
    const payload = {
      blockId: run.blockId,
      seq: run.seq,
      cmd: redactText(run.command),
      cwd: run.cwd ?? this.cwd,
      cursor: begin.cursor,
      interactive: run.runId !== undefined,
      runId: run.runId,
      ts: begin.at,
    };
    const position = this.#options.frames.event("agent_block_begin", present(payload), run.by);
    this.#options.onRun(true, run.by);
    this.#open = { blockId: run.blockId, cursor: begin.cursor };
    this.#begun?.resolve({ seq: run.seq, cursor: begin.cursor, position, began_at: begin.at });
    this.#begun = undefined;
  }

  #tellEnd({ run, begin, end, outcome, integration, canceled }: Extract<BlockFact, { type: "end" }>): void {
    this.#tellDelta(end.cursor);
    this.#open = undefined;
    this.#options.onRun(false, run.by);
    this.#onEnd?.();
    this.#onEnd = undefined;
    this.#event("agent_block_end", {
      blockId: run.blockId,
      seq: run.seq,
      exitCode: outcome.exitCode,
      signal: outcome.signal,
      cursor: end.cursor,
      cwd: outcome.cwd,
      integration,
      durationMs: Math.max(0, end.at - begin.at),
      runId: run.runId,
      canceled: canceled ? true : undefined,
    });
    // Not before the end has left: removing files takes as long as a short command.
    if (this.#cleanUp !== undefined) setImmediate(this.#cleanUp);
    this.#cleanUp = undefined;
  }

  #tellPrompt({ outcome, integration, blockId }: Extract<BlockFact, { type: "prompt" }>): void {
    const cwd = outcome.cwd ?? this.cwd ?? "";
    const marker = `__FWS_PROMPT__ ts=${Date.now()} cwd_b64=${Buffer.from(cwd).toString("base64")}`;
    this.#options.onPrompt();
    this.#options.prompts.tell(
      this.#options.promptKey(),
      present({ kind: "shell", exitCode: outcome.exitCode, cwd, integration, blockId, marker }),
    );
    this.#wake();
  }

  #tellDelta(end: number): void {
    clearTimeout(this.#delta);
    this.#delta = undefined;
    if (this.#open === undefined || end <= this.#open.cursor) return;
    const { blockId, cursor } = this.#open;
    this.#open = { blockId, cursor: end };
    this.#event("agent_block_delta", { blockId, cursor, length: end - cursor });
  }

  #event(type: "agent_block_delta" | "agent_block_end", payload: Fields): number {
    return this.#options.frames.event(type, present(payload));
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  #place(): Place {
    return { cursor: this.#options.frames.cursor, at: Date.now() };
  }
}

type Fields = { readonly [key: string]: Json | undefined };

const DELTA_MS = 100;
/** A key's echo, and the picture that a program draws for it, come within this. */
const ECHO_MS = 8;
const ASK_AT_ONCE = 20;
const ASK_SOON = 60;
const KERNEL_MS = 100;
const ASK_ATTEMPTS = 400;
/** ^C, ^\, ^Z. */
const CUTS: ReadonlySet<number> = new Set([3, 28, 26]);
/** CR, LF, ^C, ^D. */
const LINE_ENDS: ReadonlySet<number> = new Set([13, 10, 3, 4]);

function present(fields: Fields): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
