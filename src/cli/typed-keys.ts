/**
 * What a person types into their own terminal, without what that terminal says by itself: answers to queries and focus
 * reports are nobody's input. Finds the key that detaches. Rules TCL-4, TCL-6 in docs/spec/terminal-cli.md.
 */
import { keyBytes } from "../domain/keys.ts";
import { bytesOf, EscapeSplitter, type Piece } from "./escapes.ts";
import { UsageError } from "./exit.ts";

export type Typed = {
  readonly keys: Buffer;
  /** The detach key was pressed; what followed it is left out. */
  readonly isDetach: boolean;
};

const PASTE_BEGIN = "200~";
const PASTE_END = "201~";

export class TypedKeys {
  readonly #detach: DetachKey;
  readonly #splitter = new EscapeSplitter();
  #isPasting = false;

  constructor(detach: DetachKey) {
    this.#detach = detach;
  }

  /** Whether something waits for `flush`: a lone Escape key looks like the begin of a sequence. */
  get isHolding(): boolean {
    return this.#splitter.held !== "";
  }

  push(chunk: Uint8Array): Typed {
    let keys = "";
    for (const piece of this.#splitter.push(chunk)) {
      const { sent, isDetach } = this.#take(piece);
      keys += sent;
      if (isDetach) return { keys: bytesOf(keys), isDetach };
    }
    return { keys: bytesOf(keys), isDetach: false };
  }

  /** Nothing followed: it was a key, unless it can only be the begin of an answer. */
  flush(): Buffer {
    const held = this.#splitter.flush();
    return bytesOf(BEGUN_ANSWER.test(held.slice(1)) && !this.#isPasting ? "" : held);
  }

  #take(piece: Piece): { readonly sent: string; readonly isDetach: boolean } {
    const { kind, bytes } = piece;
    const body = kind === "csi" ? piece.body : undefined;
    if (this.#isPasting) {
      this.#isPasting = body !== PASTE_END;
      return { sent: bytes, isDetach: false };
    }
    if (body === PASTE_BEGIN) this.#isPasting = true;
    if (body !== undefined && this.#detach.reported.includes(body)) return { sent: "", isDetach: true };
    const at = kind === "plain" ? bytes.indexOf(this.#detach.byte) : -1;
    if (at !== -1) return { sent: bytes.slice(0, at), isDetach: true };
    return { sent: isAnswer(piece) ? "" : bytes, isDetach: false };
  }
}

export type DetachKey = {
  readonly byte: string;
  /** As a terminal reports it once a program has asked for unambiguous keys. */
  readonly reported: readonly string[];
};

export function detachKey(name: string): DetachKey {
  const byte = bytesToLatin1(keyBytes(name, { applicationCursor: false }));
  if (byte === undefined || byte.length !== 1 || byte > "\u001f" || "\r\t\u001b".includes(byte)) {
    throw new UsageError(`--detach-key is "${name}", but should be a control key such as C-] or C-q.`);
  }
  const plain = String.fromCharCode(byte.charCodeAt(0) | 0x40)
    .toLowerCase()
    .charCodeAt(0);
  return { byte, reported: [`${plain};5u`, `27;5;${plain}~`] };
}

const CSI_PARTS = /^([<=>?]?)([\d:;]*)([ -/]*[@-~])$/;
/** Status, device attributes, parameters, window and mode reports; focus has no parameters. */
const ANSWER_ENDS: ReadonlySet<string> = new Set(["n", "c", "x", "t", "$y", "*y"]);
/** F3 with a modifier is written like a cursor position in the first line; positions are never asked for here. */
const MODIFIED_F3 = /^1;[2-8]$/;
/** After the Escape. */
const BEGUN_ANSWER = /^(?:\[[=>?]|\]\d+;|P[\d>!+$]|_G)/;

function isAnswer(piece: Piece): boolean {
  if (piece.kind === "string") return true;
  if (piece.kind !== "csi") return false;
  const [, prefix = "", parameters = "", final = ""] = CSI_PARTS.exec(piece.body) ?? [];
  // Mouse reports have `<`.
  if (prefix === "?" || prefix === ">" || prefix === "=") return true;
  if (final === "R") return parameters !== "" && !MODIFIED_F3.test(parameters);
  if (final === "I" || final === "O") return parameters === "";
  return ANSWER_ENDS.has(final);
}

function bytesToLatin1(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : Buffer.from(bytes).toString("latin1");
}
