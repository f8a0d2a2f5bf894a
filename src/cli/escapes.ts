/**
 * Terminal bytes, cut into plain bytes and escape sequences across any chunking. Bytes are kept as latin1 text, one
 * character each, so that patterns can look at them.
 */
export type Piece =
  | { readonly kind: "plain"; readonly bytes: string }
  /** `body` is what follows the introducer. */
  | { readonly kind: "csi" | "escape"; readonly bytes: string; readonly body: string }
  /** OSC, DCS, APC, PM, SOS; `body` begins with `]`, `P`, `_`, `^`, `X`. Long ones come in parts, which have none. */
  | { readonly kind: "string"; readonly bytes: string; readonly body?: string };

export const ESC = "\u001b";
const ST = "\u00c2\u009c";
/** As the second byte of UTF-8, after 0xc2. */
const C1 = { "\u009b": "[", "\u009d": "]", "\u0090": "P", "\u009f": "_", "\u009e": "^", "\u0098": "X" } as const;
const BREAKS = "\u0007\u0018\u001a\u001b";

const CSI = `(?:${ESC}\\[|\u00c2\u009b)`;
const STRING = `(?:${ESC}[\\]PX^_]|\u00c2[\u0090\u0098\u009d-\u009f])`;
const STRING_END = `(?:\u0007|${ESC}\\\\|${ST})`;
const WHOLE = new RegExp(
  [
    `(?<csi>${CSI}[0-?]*[ -/]*[@-~])`,
    `(?<string>${STRING}[^${BREAKS}]*?${STRING_END})`,
    `(?<escape>${ESC}[ -/]*[0-OQ-WYZ\\\\\`-~])`,
  ].join("|"),
  "g",
);
const UNFINISHED = new RegExp(`(?:${CSI}[0-?]*[ -/]*|${STRING}[^${BREAKS}]*(?:${ESC}|\u00c2)?|${ESC}[ -/]*|\u00c2)$`);
const LONG_STRING_END = new RegExp(`${STRING_END}|[\u0018\u001a]`);
const ENDS = new RegExp(`${STRING_END}$`);
/** Nothing that has to be understood is longer; a picture is, and passes in parts. */
const HELD_MAX = 4096;

export class EscapeSplitter {
  #held = "";
  #inLongString = false;

  /** What may be the begin of a sequence and waits for its rest. */
  get held(): string {
    return this.#held;
  }

  push(chunk: Uint8Array): readonly Piece[] {
    const pieces: Piece[] = [];
    const text = this.#afterLongString(this.flush() + Buffer.from(chunk).toString("latin1"), pieces);
    if (text === "") return pieces;
    let at = 0;
    for (const match of text.matchAll(WHOLE)) {
      addPlain(pieces, text.slice(at, match.index));
      pieces.push(sequenceOf(match[0], match.groups ?? {}));
      at = match.index + match[0].length;
    }
    this.#hold(text.slice(at), pieces);
    return pieces;
  }

  /** What waits, given up as it is: nothing followed. */
  flush(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }

  #hold(rest: string, pieces: Piece[]): void {
    const from = rest.search(UNFINISHED);
    const plain = from === -1 ? rest : rest.slice(0, from);
    const begun = rest.slice(plain.length);
    addPlain(pieces, plain);
    if (begun.length <= HELD_MAX) {
      this.#held = begun;
      return;
    }
    this.#inLongString = true;
    // The last byte may be half of the end.
    pieces.push({ kind: "string", bytes: begun.slice(0, -1) });
    this.#held = begun.slice(-1);
  }

  #afterLongString(text: string, pieces: Piece[]): string {
    if (!this.#inLongString) return text;
    const end = LONG_STRING_END.exec(text);
    if (end === null) {
      pieces.push({ kind: "string", bytes: text.slice(0, -1) });
      this.#held = text.slice(-1);
      return "";
    }
    this.#inLongString = false;
    const after = end.index + end[0].length;
    pieces.push({ kind: "string", bytes: text.slice(0, after) });
    return text.slice(after);
  }
}

export function bytesOf(latin1: string): Buffer {
  return Buffer.from(latin1, "latin1");
}

function sequenceOf(bytes: string, { csi, string }: Readonly<Record<string, string | undefined>>): Piece {
  if (csi !== undefined) return { kind: "csi", bytes, body: bytes.slice(2) };
  if (string === undefined) return { kind: "escape", bytes, body: bytes.slice(1) };
  const introducer = C1[bytes[1] as keyof typeof C1] ?? bytes[1];
  return { kind: "string", bytes, body: introducer + bytes.slice(2).replace(ENDS, "") };
}

function addPlain(pieces: Piece[], bytes: string): void {
  if (bytes !== "") pieces.push({ kind: "plain", bytes });
}
