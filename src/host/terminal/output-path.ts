/**
 * The way of a terminal's bytes: marks leave, the typed command file becomes the command, secrets are masked, and what
 * remains is the canonical stream. Nothing is lost; what a filter holds back leaves at the next quiet or barrier.
 * Rules PTY-32..PTY-35 in docs/spec/terminal.md.
 */
import { EchoFilter } from "../../domain/echo-filter.ts";
import type { Mark } from "../../domain/marks.ts";
import { MarkFilter } from "../../domain/marks.ts";
import type { TerminalModes } from "../../domain/modes.ts";
import { ModeScanner } from "../../domain/modes.ts";
import { Redactor } from "../../domain/redaction/redactor.ts";
import type { Aside, Piece } from "./aside.ts";
import { byteTools } from "./byte-tools.ts";
import type { Frames } from "./frames.ts";

export type OutputPathOptions = {
  readonly frames: Frames;
  readonly onMark: (mark: Mark) => void;
  /** Canonical bytes, from `cursor` on; `queries` of them ask the terminal something. */
  readonly onOutput: (bytes: Uint8Array, cursor: number, queries: number) => void;
  readonly redaction: "on" | "off";
};

export class OutputPath {
  readonly #options: OutputPathOptions;
  readonly #redactor: Redactor | undefined;
  readonly #scanner = new ModeScanner(byteTools);
  readonly #echo = new EchoFilter();
  #marks: MarkFilter | undefined;
  #aside: Aside | undefined;
  #ranges: (readonly [number, number])[] = [];
  #forgetting: NodeJS.Timeout | undefined;

  constructor(options: OutputPathOptions) {
    this.#options = options;
    this.#redactor = options.redaction === "on" ? new Redactor() : undefined;
  }

  get modes(): TerminalModes {
    return this.#scanner.modes;
  }

  /** A shell begins; only marks with its nonce are ours. */
  expectMarks(nonce: string): void {
    this.#marks = new MarkFilter(nonce, byteTools);
    this.#scanner.reset();
  }

  expectEcho(typed: Uint8Array, shown: Uint8Array): void {
    if (typed.length > 0) this.#echo.expect(typed, shown);
  }

  /** What was typed unseen is masked wherever it is printed, for a short while. */
  expectSecret(value: Uint8Array): void {
    this.#redactor?.expectSecret(value);
    clearTimeout(this.#forgetting);
    this.#forgetting = setTimeout(() => this.#forgetSecrets(), SECRET_MS);
    this.#forgetting.unref();
  }

  /** A prompt stands: no echo and no secret of what was before it can follow. */
  forgetExpected(): void {
    this.#redact(this.#echo.cancel());
    this.#forgetSecrets();
  }

  push(bytes: Uint8Array): void {
    for (const piece of this.#marks?.push(bytes) ?? [bytes]) {
      if (this.#aside === undefined) this.#pass(piece);
      else this.#aside.take(piece);
    }
  }

  /** The shell is asked something by us: for everybody else it is at its prompt. */
  get isAside(): boolean {
    return this.#aside !== undefined;
  }

  /** What comes from now on is kept back. */
  setAside(aside: Aside): void {
    this.settle();
    this.#aside = aside;
  }

  /** What comes is passed on again, first what has to be of what was kept back. */
  endAside(): void {
    const rest = this.#aside?.end() ?? [];
    this.#aside = undefined;
    for (const piece of rest) this.#pass(piece);
  }

  /** Not from the terminal's programs. */
  insert(bytes: Uint8Array): void {
    this.endAside();
    this.push(bytes);
  }

  /** After a moment of silence: what looked like a beginning is none. */
  settle(): void {
    this.#releaseFilters();
    if (this.#redactor !== undefined) this.#leave(this.#redactor.settle());
    this.#tellRanges();
  }

  /** Nothing stays held: a mark, a prompt or the exit stands exactly here. */
  barrier(): void {
    this.#redact(this.#echo.release());
    if (this.#redactor !== undefined) this.#leave(this.#redactor.barrier());
    this.#tellRanges();
  }

  /** As a barrier, and what follows has nothing to do with what came. */
  cut(): void {
    this.#redact(this.#echo.release());
    if (this.#redactor !== undefined) this.#leave(this.#redactor.cut());
    this.#tellRanges();
  }

  /** As a barrier, and no mark can follow. */
  end(): void {
    this.#releaseFilters();
    this.endAside();
    this.barrier();
    this.#forgetSecrets();
  }

  #pass(piece: Piece): void {
    if (piece instanceof Uint8Array) return this.#redact(this.#echo.push(piece));
    if (piece.kind === "command_start") this.#redact(this.#echo.cancel());
    if (piece.kind === "prompt_end") this.barrier();
    else this.cut();
    this.#options.onMark(piece);
  }

  #forgetSecrets(): void {
    clearTimeout(this.#forgetting);
    this.#redactor?.forgetSecrets();
  }

  #releaseFilters(): void {
    const held = this.#marks?.release() ?? NOTHING;
    if (this.#aside === undefined) this.#redact(this.#echo.push(held));
    else if (held.length > 0) this.#aside.take(held);
    this.#redact(this.#echo.release());
  }

  #redact(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#leave(this.#redactor === undefined ? bytes : this.#redactor.push(bytes));
  }

  #leave(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const { frames, onOutput } = this.#options;
    const { cursor } = frames;
    const { queries } = this.#scanner.push(bytes);
    frames.bytes(bytes);
    onOutput(bytes, cursor, queries);
    const ranges = this.#redactor?.takeRanges() ?? [];
    if (ranges.length > 0) this.#ranges.push(...ranges);
    if (this.#ranges.length > RANGES_MAX) this.#tellRanges();
  }

  #tellRanges(): void {
    if (this.#ranges.length === 0) return;
    const ranges = this.#ranges;
    this.#ranges = [];
    this.#options.frames.event("redacted", { ranges });
  }
}

const NOTHING = new Uint8Array(0);
const SECRET_MS = 5_000;
const RANGES_MAX = 256;
