/**
 * Where somebody writes while cards come: what is shown goes above the line that is being written. A secret is not echoed and is in no
 * history, nor is what may still be one: whoever types it learns only by and by that nobody wants it any more. From a pipe it is lines
 * and nothing else. Rule CHN-36 in docs/spec/channels.md.
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
/** Fingers that were typing a secret have stopped, or have typed something. */
const STILL_TYPING_MS = 2_000;
const FORGOTTEN = "Not sent: it may be of the secret that is asked for no more. Type it again if it is not.";

export class ChatLine implements Disposable {
  readonly #terminal: Terminal;
  readonly #echo = new Echo();
  readonly #lines: Interface | undefined;
  readonly #isTyped: boolean;
  /** What was being written when a secret was asked for. */
  #draft = "";
  /** The secret is asked for no more, and what is typed may still be of it. */
  #isForgetting = false;
  #stillTyping: NodeJS.Timeout | undefined;
  /** Asked when that is over. */
  #next: string | undefined;

  constructor(terminal: Terminal, listener: LineListener) {
    const { input } = terminal;
    this.#terminal = terminal;
    this.#isTyped = input?.isTTY === true;
    this.#lines = input === undefined ? undefined : this.#open(input);
    this.#lines?.on("line", (line) => {
      if (!this.#echo.isMuted) listener.onLine(line);
      else if (this.#isForgetting) this.#forgotten(line);
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
    if (this.#isForgetting) this.#next = question;
    if (this.#echo.isMuted || this.#lines === undefined) return;
    this.#draft = this.#lines.line;
    this.#lines.write(...DELETE_LINE);
    this.#echo.isMuted = true;
    process.stderr.write(`${CLEAR_LINE}${question}`);
  }

  /** Nobody wants it any more: what is typed stays unseen up to Enter, unless nothing is. */
  endSecret(): void {
    this.#next = undefined;
    if (!this.#echo.isMuted || this.#isForgetting) return;
    this.#isForgetting = true;
    this.#stillTyping = setTimeout(() => {
      if (this.#lines?.line === "") this.#forgotten("");
      else this.note("What you typed is unseen. Press Enter: it is forgotten then.");
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

  #forgotten(line: string): void {
    clearTimeout(this.#stillTyping);
    this.#isForgetting = false;
    this.#unmute();
    if (line !== "") this.note(FORGOTTEN);
    this.#prompt();
    const next = this.#next;
    this.#next = undefined;
    if (next !== undefined) this.askSecret(next);
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
