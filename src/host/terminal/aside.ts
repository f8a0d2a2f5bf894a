/**
 * Output while the shell is asked something that is nobody's command: kept back until its next prompt stands. If there
 * is nothing in it but our line and the prompt, as usual, nobody sees it; else all of it is shown: nothing that
 * another program printed is lost.
 */
import type { Mark } from "../../domain/marks.ts";

export type Piece = Uint8Array | Mark;

export class Aside {
  readonly #line: string;
  readonly #needsStart: boolean;
  readonly #pieces: Piece[] = [];
  readonly #done = Promise.withResolvers<void>();
  #bytes = 0;
  #started = false;

  /** `needsStart`: the shell tells when a command begins; a prompt before that is the old one, drawn again. */
  constructor(line: string, { needsStart }: { readonly needsStart: boolean }) {
    this.#line = line.replaceAll(/\s/g, "");
    this.#needsStart = needsStart;
  }

  /** Resolves at the prompt that follows, when there is too much to be kept, or at its end. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  take(piece: Piece): void {
    if (piece instanceof Uint8Array) {
      this.#pieces.push(piece.slice());
      this.#bytes += piece.length;
      if (this.#bytes > KEPT_MAX) this.#done.resolve();
      return;
    }
    this.#pieces.push(piece);
    if (piece.kind === "command_start") this.#started = true;
    if (piece.kind === "prompt_end" && (this.#started || !this.#needsStart)) this.#done.resolve();
  }

  /** Nothing more is kept. Answers what has to be passed on. */
  end(): readonly Piece[] {
    this.#done.resolve();
    return this.#isOurs() ? [] : this.#pieces;
  }

  #isOurs(): boolean {
    const last = this.#pieces.findLastIndex((it) => !(it instanceof Uint8Array) && it.kind === "prompt_end");
    const start = this.#pieces.findLastIndex(
      (it, index) => index < last && !(it instanceof Uint8Array) && it.kind === "prompt_start",
    );
    if (last < 0 || start < 0) return false;
    const outside = [...this.#pieces.slice(0, start), ...this.#pieces.slice(last + 1)];
    const text = Buffer.concat(outside.filter((it) => it instanceof Uint8Array)).toString("latin1");
    const runs = text.split(BLANK).filter((run) => !PARTIAL_LINE.has(run));
    return runs.every((run) => this.#line.includes(run));
  }
}

const KEPT_MAX = 64 * 1024;
/** Escape sequences, control characters and spaces. */
const BLANK =
  // oxlint-disable-next-line no-control-regex -- they are what it looks for
  /(?:\u001B\[[0-?]*[ -/]*[@-~]|\u001B[\]P_^][^\u0007\u001B]*(?:\u0007|\u001B\\)|\u001B[ -/]*[0-~]|[\u0000- \u007F])+/;
/** By which zsh and fish show that a line has no end. */
const PARTIAL_LINE: ReadonlySet<string> = new Set(["%", "#", "\u00E2\u008F\u008E"]);
