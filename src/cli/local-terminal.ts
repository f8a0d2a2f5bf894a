/**
 * The terminal that somebody sits at, lent to a session: raw while it is lent, and as it was in every case afterwards,
 * also when we fail or are told to end (TCL-5 in docs/spec/terminal-cli.md).
 */
import { spawnSync } from "node:child_process";
import { writeSync } from "node:fs";
import type { ReadStream, WriteStream } from "node:tty";
import { WithoutQueries } from "./screen-output.ts";

export type LocalListener = {
  readonly onInput: (chunk: Uint8Array) => void;
  /** Nobody can type any more. */
  readonly onEnd: () => void;
  readonly onResize: () => void;
  /** We were stopped and go on: the screen shows something else. */
  readonly onContinue: () => void;
};

type Screen = WriteStream & { readonly fd: number };

export type LocalSize = { readonly cols: number; readonly rows: number };

const MODES_OFF = [9, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 1, 5, 6, 66, 69, 2026];
const SAVE_TITLE = "\u001b[22;0t";
const RESTORE = [
  `\u001b[?${MODES_OFF.join(";")}l`,
  "\u001b[?7;25h", // lines wrap, the cursor is seen
  "\u001b[4l\u001b>", // replace, plain keypad
  "\u001b[>4m\u001b[<99u", // keys as they always were
  "\u001b[0 q\u001b[0m\u001b(B\u000f",
].join("");
const RESTORE_TITLE = "\u001b[23;0t";
const COLOURS_OFF = "\u001b[0m";
const LAST_LINE = "\u001b[r\u001b[9999;1H\r\n";
/** Taking back scroll margins moves the cursor. */
const SAME_PLACE = "\u001b7\u001b[r\u001b8";

/** `screen`: the whole of it belongs to the session. `output`: what comes is written where the cursor stands. */
export type Lending = "screen" | "output";

export class LocalTerminal {
  readonly #input: ReadStream;
  readonly #output: Screen;
  readonly #lending: Lending;
  #filter = new WithoutQueries();
  #isLent = false;
  /** As `stty` writes it; undefined where there is no `stty`. */
  #modesBefore: string | undefined;
  readonly #atExit = (): void => this.giveBack();

  constructor(input: ReadStream, output: Screen, lending: Lending) {
    this.#input = input;
    this.#output = output;
    this.#lending = lending;
  }

  get size(): LocalSize {
    return { cols: this.#output.columns || 80, rows: this.#output.rows || 24 };
  }

  lend(): void {
    this.#isLent = true;
    process.once("exit", this.#atExit);
    if (this.#input.isTTY) this.#modesBefore = stty("-g");
    this.#makeRaw();
    if (this.#output.isTTY && this.#lending === "screen") this.#output.write(SAVE_TITLE);
  }

  /** Until disposed. Where stdin is no terminal nobody types. */
  listen({ onInput, onEnd, onResize, onContinue }: LocalListener): Disposable {
    const input = this.#input;
    const goOn = (): void => {
      this.#makeRaw();
      onContinue();
    };
    if (input.isTTY) input.on("data", onInput).once("end", onEnd).once("error", onEnd);
    this.#output.on("resize", onResize);
    process.on("SIGCONT", goOn);
    return {
      [Symbol.dispose]: () => {
        input.off("data", onInput).off("end", onEnd).off("error", onEnd).pause();
        this.#output.off("resize", onResize);
        process.off("SIGCONT", goOn);
      },
    };
  }

  /** An empty screen; what was on it moves into the scrollback. */
  clear(): void {
    if (this.#filter.isAlternate) this.#output.write("\u001b[?1049l");
    this.#filter = new WithoutQueries();
    const { rows } = this.size;
    if (this.#output.isTTY) this.#output.write(`\u001b[9999;1H${"\r\n".repeat(rows)}\u001b[H\u001b[2J`);
  }

  /** Resolves when the terminal has taken it. */
  async show(chunk: Uint8Array): Promise<void> {
    const shown = this.#filter.push(chunk);
    const bytes = this.#output.isTTY ? shown : chunk;
    await new Promise<void>((resolve, reject) => {
      this.#output.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  }

  title(text: string): void {
    if (this.#output.isTTY) this.#output.write(`\u001b]2;${text}\u0007`);
  }

  bell(): void {
    if (this.#output.isTTY) this.#output.write("\u0007");
  }

  /** Synchronous, for it may be the last thing that this process does. */
  giveBack(): void {
    if (!this.#isLent) return;
    this.#isLent = false;
    process.off("exit", this.#atExit);
    try {
      if (this.#output.isTTY) writeSync(this.#output.fd, this.#restoring());
    } catch {
      // The terminal is gone (SIGHUP): there is nothing to restore.
    }
    if (this.#input.isTTY && this.#modesBefore !== undefined) stty(this.#modesBefore);
    else if (this.#input.isTTY) this.#input.setRawMode(false);
  }

  #restoring(): string {
    const leaveAlternate = this.#filter.isAlternate ? "\u001b[?1049l" : "";
    if (this.#lending === "screen") return leaveAlternate + RESTORE + RESTORE_TITLE + LAST_LINE;
    return this.#filter.isPlain ? COLOURS_OFF : leaveAlternate + RESTORE + SAME_PLACE;
  }

  /** Node's own raw mode still turns LF into CR LF, which tears the picture of programs that move by LF. */
  #makeRaw(): void {
    if (!this.#input.isTTY) return;
    if (this.#modesBefore === undefined) this.#input.setRawMode(true);
    else stty("raw", "-echo");
  }
}

function stty(...words: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync("stty", words, { stdio: ["inherit", "pipe", "ignore"], encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}
