/**
 * Where somebody writes while cards come: what is shown goes above the line that is being written. A secret is not echoed and is in no
 * history. When nobody wants it any more the line stays hidden for a while: people notice it late, and go on typing. From a pipe it is
 * lines and nothing else. Rule CHN-36 in docs/spec/channels.md.
 */
import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import type { Source, Terminal } from "./terminal.ts";

export type LineListener = {
  readonly onLine: (line: string) => void;
  readonly onSecret: (secret: string) => void;
  /** They left, or the pipe is at its end. */
  readonly onEnd: () => void;
};

/** Echoes to stderr, unless a secret is typed. */
class Echo extends Writable {
  isMuted = false;

  get columns(): number {
    return process.stderr.columns;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    if (!this.isMuted) process.stderr.write(chunk);
    done();
  }
}

const PROMPT = "> ";
const CLEAR_LINE = "\r\u001b[K";
const DELETE_LINE = [null, { ctrl: true, name: "u" }] as const;
/** Whoever was about to type the secret has begun by then, or won't. */
const STILL_TYPING_MS = 2_000;
const HIDDEN = "What you typed is hidden and will not be sent. Press Enter to go on.";
const NOT_SENT = "Not sent: it may be part of the secret, which is no longer asked for. If it isn't, type it again.";

export class ChatLine implements Disposable {
  readonly #terminal: Terminal;
  readonly #echo = new Echo();
  readonly #lines: Interface | undefined;
  readonly #isTyped: boolean;
  /** What was being written when a secret was asked for. */
  #draft = "";
  /** The secret is no longer asked for, and what is typed may still be part of it. */
  #isForgetting = false;
  #stillTyping: NodeJS.Timeout | undefined;
  /** The question for the next secret, to be asked after that. */
  #nextQuestion: string | undefined;

  constructor(terminal: Terminal, listener: LineListener) {
    const { input } = terminal;
    this.#terminal = terminal;
    this.#isTyped = input?.isTTY === true;
    this.#lines = input === undefined ? undefined : this.#open(input);
    this.#lines?.on("line", (line) => {
      if (!this.#echo.isMuted) listener.onLine(line);
      else if (this.#isForgetting) this.#forget(line);
      else {
        this.#unmute();
        listener.onSecret(line);
      }
      this.#prompt();
    });
    this.#lines?.once("SIGINT", listener.onEnd);
    this.#lines?.once("close", listener.onEnd);
    this.#prompt();
  }

  /** Whether somebody can type a secret unseen. */
  get canAsk(): boolean {
    return this.#isTyped;
  }

  show(text: string): void {
    this.#above(() => this.#terminal.print(text));
  }

  note(text: string): void {
    this.#above(() => this.#terminal.note(text));
  }

  /** The next line is one. */
  askSecret(question: string): void {
    if (this.#isForgetting) this.#nextQuestion = question;
    if (this.#echo.isMuted || this.#lines === undefined) return;
    this.#draft = this.#lines.line;
    this.#lines.write(...DELETE_LINE);
    this.#echo.isMuted = true;
    process.stderr.write(`${CLEAR_LINE}${question}`);
  }

  /** Nobody wants it any more. What is typed stays hidden until Enter, unless nothing is typed for a while. */
  endSecret(): void {
    this.#nextQuestion = undefined;
    if (!this.#echo.isMuted || this.#isForgetting) return;
    this.#isForgetting = true;
    this.#stillTyping = setTimeout(() => {
      if (this.#lines?.line === "") this.#forget("");
      else this.note(HIDDEN);
    }, STILL_TYPING_MS);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#stillTyping);
    if (this.#isTyped) process.stderr.write(CLEAR_LINE);
    this.#lines?.removeAllListeners();
    this.#lines?.close();
  }

  #open(input: Source): Interface {
    if (!this.#isTyped) return createInterface({ input, terminal: false });
    return createInterface({ input, output: this.#echo, terminal: true, prompt: PROMPT, historySize: 0 });
  }

  #forget(line: string): void {
    clearTimeout(this.#stillTyping);
    this.#isForgetting = false;
    this.#unmute();
    if (line === "") this.#prompt();
    else this.note(NOT_SENT);
    const question = this.#nextQuestion;
    this.#nextQuestion = undefined;
    if (question !== undefined) this.askSecret(question);
  }

  #unmute(): void {
    this.#echo.isMuted = false;
    process.stderr.write("\n");
    this.#lines?.write(this.#draft);
    this.#draft = "";
  }

  #above(print: () => void): void {
    if (this.#isTyped) process.stderr.write(CLEAR_LINE);
    print();
    this.#prompt();
  }

  #prompt(): void {
    if (this.#isTyped && !this.#echo.isMuted) this.#lines?.prompt(true);
  }
}
