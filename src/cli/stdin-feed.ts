/**
 * Feeds stdin to the program that runs in a terminal. Something is typed only when the program asks, and only into that
 * question: what a program leaves unread would be run by the shell behind it. So a program gets a line at a time, unless
 * it is one that reads to the end whatever comes. Rules TCL-25, TCL-26 in docs/spec/terminal-cli.md.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { HubUnreachable, type SidestickClient } from "../client/sidestick.ts";
import { AppError } from "../protocol/errors.ts";
import { CTRL_D, keyInput, lineInput } from "./canonical-input.ts";
import type { InputSource } from "./input-source.ts";
import type { Question } from "./running-block.ts";

export type StdinFeedParts = {
  readonly client: SidestickClient;
  readonly conversation: string;
  readonly source: InputSource;
  /** The name of the program, if the command is nothing but one program. */
  readonly onlyProgram: string | undefined;
  /** The pipe is open and says nothing; whether to wait for it. */
  readonly onSilence: (question: Question) => "wait" | "leave";
  /** Nothing is left to answer this with. */
  readonly onNothingLeft: (question: Question) => void;
  /** It gets line after line, and slowly. */
  readonly onManyLines: () => void;
  readonly onFailure: (error: unknown) => void;
};

export class StdinFeed implements Disposable {
  readonly #parts: StdinFeedParts;
  readonly #ending = new AbortController();
  #question: Question | undefined;
  #isFeeding = false;
  #isEndTold = false;
  #lines = 0;

  constructor(parts: StdinFeedParts) {
    this.#parts = parts;
  }

  asked(question: Question): void {
    this.#question = question;
    if (this.#isFeeding) return;
    this.#isFeeding = true;
    this.#feed()
      .catch((error: unknown) => {
        if (!this.#ending.signal.aborted) this.#parts.onFailure(error);
      })
      .finally(() => (this.#isFeeding = false));
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
    this.#parts.source[Symbol.dispose]();
  }

  async #feed(): Promise<void> {
    for (;;) {
      const question = this.#question;
      if (question === undefined) return;
      const bytes = await this.#next(question);
      if (this.#ending.signal.aborted) return;
      // While stdin was waited for somebody else may have answered.
      const asking = this.#question ?? question;
      if (bytes === undefined || (bytes.length === 0 && !this.#mayEnd(asking))) {
        this.#question = undefined;
        this.#parts.onNothingLeft(asking);
        continue;
      }
      const isTyped = await this.#type(asking, bytes);
      if (!isTyped) this.#parts.source.putBack(bytes);
      else if (bytes.length === 0) this.#isEndTold = true;
      if (this.#question?.prompt_id === asking.prompt_id) this.#question = undefined;
    }
  }

  async #next(question: Question): Promise<Buffer | undefined> {
    const { source, onlyProgram, onSilence } = this.#parts;
    const { program } = question;
    const { signal } = this.#ending;
    const isBulk = program === onlyProgram && READ_TO_THE_END.has(program);
    if (!isBulk) this.#count();
    const take = (until: AbortSignal) => (isBulk ? source.bulk(until) : source.line(until));
    const soon = await take(AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]));
    if (soon !== undefined || signal.aborted) return soon;
    return onSilence(question) === "wait" ? take(signal) : undefined;
  }

  #count(): void {
    this.#lines += 1;
    if (this.#lines === MANY_LINES) this.#parts.onManyLines();
  }

  #mayEnd({ kind }: Question): boolean {
    return !this.#isEndTold && ENDS_BY_CTRL_D.has(kind);
  }

  /** False: that question no longer stands, and nothing was typed. */
  async #type({ prompt_id, kind }: Question, bytes: Buffer): Promise<boolean> {
    const { client, conversation: conversation_id } = this.#parts;
    const encode = kind === "line" || kind === "password" ? lineInput : keyInput;
    const typed = bytes.length === 0 ? Buffer.from(CTRL_D) : encode(bytes);
    const input = { conversation_id, data_b64: typed.toString("base64"), if_prompt: prompt_id };
    // The same key after a lost answer: nothing is typed twice.
    const key = randomUUID();
    for (let refusals = 0; ;) {
      try {
        await client.pty.send(input, { idempotencyKey: `${key}.${refusals}` });
        return true;
      } catch (error) {
        if (!(error instanceof HubUnreachable) && !isGone(error)) throw error;
        if (isGone(error)) refusals += 1;
        // Something moved at that moment, or another has answered; then a new question follows, or none.
        if (refusals > ASK_AGAIN || this.#question?.prompt_id !== prompt_id) return false;
        await sleep(RETRY_MS, undefined, { signal: this.#ending.signal });
      }
    }
  }
}

/** Some five seconds. */
const MANY_LINES = 100;
const PATIENCE_MS = 1_000;
const RETRY_MS = 100;
const ASK_AGAIN = 10;

const ENDS_BY_CTRL_D: ReadonlySet<Question["kind"]> = new Set(["line", "password", "line_editor"]);

/** They stop at the end of their input and not before. */
const READ_TO_THE_END: ReadonlySet<string> = new Set(
  (
    "cat wc sort tac tee nl rev uniq tr cut fold " +
    "cksum sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum"
  ).split(" "),
);

function isGone(error: unknown): boolean {
  return error instanceof AppError && GONE.has(error.code);
}

const GONE: ReadonlySet<string> = new Set(["prompt_gone", "shell_idle", "invalid_transition", "not_found"]);
