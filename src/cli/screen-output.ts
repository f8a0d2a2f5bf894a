/**
 * Output of a session on its way to somebody's screen or file. A viewer never answers what a program asks its terminal:
 * the host's emulator does, so questions are left out (TCL-6 in docs/spec/terminal-cli.md).
 */
import { bytesOf, ESC, EscapeSplitter, type Piece } from "./escapes.ts";

export type OutputFilter = { push(chunk: Uint8Array): Uint8Array; end(): Uint8Array };

/** As it is, but for what would make the local terminal answer. */
export class WithoutQueries implements OutputFilter {
  readonly #splitter = new EscapeSplitter();

  #isAlternate = false;
  #isPlain = true;

  /** Whether nothing but characters, colours and erasing went through. */
  get isPlain(): boolean {
    return this.#isPlain;
  }

  /** Whether it left the terminal on its alternate screen. */
  get isAlternate(): boolean {
    return this.#isAlternate;
  }

  push(chunk: Uint8Array): Uint8Array {
    const pieces = this.#splitter.push(chunk);
    for (const piece of pieces) this.#follow(piece);
    return bytesOf(pieces.map(unasked).join(""));
  }

  #follow(piece: Piece): void {
    this.#isPlain &&= piece.kind === "plain" || (piece.kind === "csi" && HARMLESS.test(piece.body));
    if (piece.kind === "escape" && piece.body === "c") this.#isAlternate = false;
    if (piece.kind === "csi" && ALTERNATE.test(piece.body)) this.#isAlternate = piece.body.endsWith("h");
  }

  end(): Uint8Array {
    return bytesOf(this.#splitter.flush());
  }
}

/** For pipes and files: characters and line ends alone. */
export class PlainOutput implements OutputFilter {
  readonly #splitter = new EscapeSplitter();
  /** Carriage returns at the end: a line feed may follow. */
  #returns = "";

  push(chunk: Uint8Array): Uint8Array {
    const pieces = this.#splitter.push(chunk).filter((it) => it.kind === "plain");
    return this.#lines(pieces.map((it) => it.bytes).join(""));
  }

  end(): Uint8Array {
    // What is left is an unfinished sequence, but for half a character.
    const rest = this.#splitter.flush();
    return this.#lines(rest.startsWith(ESC) ? "" : rest, { isLast: true });
  }

  #lines(plain: string, { isLast = false } = {}): Uint8Array {
    const text = this.#returns + plain;
    this.#returns = isLast ? "" : (/\r+$/.exec(text)?.[0] ?? "");
    const whole = text.slice(0, text.length - this.#returns.length);
    return bytesOf(whole.replaceAll(/\r+\n|\r+/g, "\n").replaceAll(CONTROLS, ""));
  }
}

const CONTROLS = new RegExp(`[${codes(0, 8)}${codes(11, 31)}${codes(127, 127)}]`, "g");
const ENQ = "\u0005";

/** Prefix, parameters, intermediates with the final byte. */
const CSI_PARTS = /^([<=>?]?)([\d:;]*)([ -/]*[@-~])$/;
/** Device attributes; status and cursor; modes; version, keyboard, parameters, graphics, checksum. */
const CSI_QUERIES: ReadonlySet<string> = new Set("c >c =c n ?n $p ?$p >q ?u x ?S *y".split(" "));
/** Colours, erasing in the line. */
const HARMLESS = /^[\d:;]*[mK]$/;
const ALTERNATE = /^\?(?:\d+;)*(?:47|1047|1049)(?:;\d+)*[hl]$/;
/** Window reports; the others act on the window. */
const ASKS_WINDOW = /^(?:1[1-9]|2[01])(?:;|$)/;
const STRING_QUERY = /^\]\d+;(?:.*;)?\?|^P[\d;]*[$+]q/s;

function unasked(piece: Piece): string {
  const { kind, bytes } = piece;
  switch (kind) {
    case "plain":
      return bytes.replaceAll(ENQ, "");
    case "escape":
      return piece.body === "Z" ? "" : bytes;
    case "string":
      return STRING_QUERY.test(piece.body ?? "") ? "" : bytes;
    case "csi":
      return asks(piece.body) ? "" : bytes;
  }
}

function asks(body: string): boolean {
  const [, prefix = "", parameters = "", final = ""] = CSI_PARTS.exec(body) ?? [];
  return CSI_QUERIES.has(prefix + final) || (prefix + final === "t" && ASKS_WINDOW.test(parameters));
}

function codes(first: number, last: number): string {
  return `${String.fromCharCode(first)}-${String.fromCharCode(last)}`;
}
