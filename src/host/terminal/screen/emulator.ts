/**
 * One headless terminal: takes output, answers queries, tells what it shows and writes itself down. Everything is
 * synchronous, and any chunking of the same bytes gives the same screen. Rules SCR-20..SCR-28 in docs/spec/screen.md.
 */
import { Unicode11Addon } from "@xterm/addon-unicode11";
import headless from "@xterm/headless";
import type { Terminal } from "@xterm/headless";
import { ModeScanner } from "../../../domain/modes.ts";
import { type CountedTerminal, limitCounts } from "../../../domain/terminal-counts.ts";
import { type SavingTerminal, keepSavedCursorOnScreen } from "../../../domain/terminal-saved-cursor.ts";
import { wholeCharacters } from "../../../lib/whole-characters.ts";
import { byteTools } from "../byte-tools.ts";
import { CountLimit } from "./count-limit.ts";
import type { ScreenContent, ScreenKeyframe } from "./messages.ts";
import { answerQueries } from "./replies.ts";
import { writeScreen } from "./screen-writer.ts";
import { XtermInternals } from "./xterm-internals.ts";

export const SCROLLBACK = 1_000;
/** xterm.js splits longer input by itself, also in the middle of a character, which it then gets wrong. */
const PIECE = 64 * 1024;
const TITLE_MAX = 256;

export type EmulatorOptions = {
  readonly cols: number;
  readonly rows: number;
  /** Output that brings it into a state; nothing in it is answered. */
  readonly keyframe?: string | undefined;
  /** What it shows may lack something: output was skipped. */
  readonly approximate?: boolean | undefined;
  readonly onReply: (text: string) => void;
};

export class Emulator {
  readonly #terminal: Terminal;
  readonly #inner: XtermInternals;
  readonly #scanner = new ModeScanner(byteTools);
  readonly #counts = new CountLimit();
  readonly #onReply: (text: string) => void;
  /** Bytes of a character that is not complete yet. */
  #incomplete: Uint8Array = new Uint8Array();
  #answering = false;
  #title = "";
  #approximate: boolean;

  constructor({ cols, rows, keyframe, approximate, onReply }: EmulatorOptions) {
    const windowOptions = Object.fromEntries(REPORT_OPTIONS.map((name) => [name, true]));
    this.#terminal = new headless.Terminal({
      cols,
      rows,
      scrollback: SCROLLBACK,
      allowProposedApi: true,
      windowOptions,
    });
    // Widths as programs count them today: emoji take two columns.
    this.#terminal.loadAddon(new Unicode11Addon());
    this.#terminal.unicode.activeVersion = "11";
    this.#inner = new XtermInternals(this.#terminal);
    limitCounts(this.#terminal as unknown as CountedTerminal);
    keepSavedCursorOnScreen(this.#terminal as unknown as SavingTerminal);
    this.#onReply = onReply;
    this.#terminal.onData((text) => this.#reply(text));
    this.#terminal.onTitleChange((title) => (this.#title = sanitize(title)));
    answerQueries(this.#terminal, (text) => this.#reply(text));
    if (keyframe !== undefined) this.feed(Buffer.from(keyframe), { answer: false });
    this.#approximate = approximate === true;
    this.#watchForClearing();
  }

  feed(given: Uint8Array, { answer }: { readonly answer: boolean }): void {
    const bytes = this.#counts.push(given);
    const all = this.#incomplete.length === 0 ? bytes : Buffer.concat([this.#incomplete, bytes]);
    const whole = wholeCharacters(all);
    this.#incomplete = Uint8Array.from(all.subarray(whole));
    this.#answering = answer;
    for (let from = 0; from < whole;) {
      const piece = all.subarray(from, Math.min(whole, from + PIECE));
      const to = from + (wholeCharacters(piece) || piece.length);
      this.#inner.parse(all.subarray(from, to));
      from = to;
    }
    this.#scanner.push(all.subarray(0, whole));
  }

  resize(cols: number, rows: number): void {
    this.#terminal.resize(cols, rows);
  }

  read(): ScreenContent {
    const buffer = this.#terminal.buffer.active;
    const lines = Array.from({ length: this.#terminal.rows }, (_, row) => {
      const text = buffer.getLine(buffer.baseY + row)?.translateToString(true) ?? "";
      return text.trimEnd();
    });
    return {
      lines,
      cursorRow: buffer.cursorY,
      cursorCol: Math.min(buffer.cursorX, this.#terminal.cols - 1),
      altScreen: buffer.type === "alternate",
      title: this.#title,
      approximate: this.#approximate,
    };
  }

  write(limits: { readonly scrollback: number; readonly maxBytes: number }): ScreenKeyframe {
    const partial = Buffer.concat([this.#scanner.partial, this.#counts.held]).toString();
    const from = { terminal: this.#terminal, inner: this.#inner, title: this.#title, partial };
    return { data: writeScreen(from, limits), incomplete: this.#incomplete, approximate: this.#approximate };
  }

  close(): void {
    this.#terminal.dispose();
  }

  #reply(text: string): void {
    if (this.#answering && text !== "") this.#onReply(text);
  }

  /** A cleared screen shows everything that is on it, whatever was skipped before. */
  #watchForClearing(): void {
    const { parser } = this.#terminal;
    parser.registerEscHandler({ final: "c" }, () => this.#cleared());
    parser.registerCsiHandler({ final: "J" }, ([value]) => (value === 2 ? this.#cleared() : false));
  }

  #cleared(): false {
    this.#approximate = false;
    return false;
  }
}

/** Which reports xterm.js lets our own answers see. */
const REPORT_OPTIONS = [
  "getWinState",
  "getWinPosition",
  "getWinSizePixels",
  "getCellSizePixels",
  "getWinSizeChars",
  "getScreenSizeChars",
  "getIconTitle",
  "getWinTitle",
];

/** Of a title, what is safe to show and to send: no controls, nothing that reorders text, and not much of it. */
function sanitize(title: string): string {
  return Array.from(title.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ""))
    .slice(0, TITLE_MAX)
    .join("");
}
