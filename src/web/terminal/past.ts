/** What was, as the hub keeps it: screens and bytes by range. The last few pieces are remembered, so that going to and fro is quick. */
import type { SidestickClient } from "../../client/client.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Keyframe } from "../../protocol/history.ts";

const PIECE = 256 * 1024;
const PIECES_KEPT = 32;

export class Past {
  readonly #client: SidestickClient;
  readonly #sessionId: string;
  /** Whole ones, by where they would begin. */
  readonly #pieces = new Map<number, { readonly from: number; readonly bytes: Uint8Array }>();
  #oldest = 0;

  constructor(client: SidestickClient, sessionId: string) {
    this.#client = client;
    this.#sessionId = sessionId;
  }

  /** The first byte that is kept, as far as is known. */
  get oldest(): number {
    return this.#oldest;
  }

  /** How far the output reaches now. */
  async end(): Promise<number> {
    const { end_cursor } = await this.#client.session.output({ sessionId: this.#sessionId, max_bytes: 1 });
    return end_cursor;
  }

  /** To begin with, for what lies between `at` and `to`. */
  async keyframe(at: number, to: number): Promise<Keyframe> {
    const sessionId = this.#sessionId;
    return this.#client.session.keyframe({ sessionId, at_cursor: Math.max(at, this.#oldest), to_cursor: to });
  }

  /** All of a range. */
  async bytes(from: number, to: number): Promise<readonly Uint8Array[]> {
    const parts: Uint8Array[] = [];
    for (let at = from; at < to;) {
      const piece = await this.#piece(Math.floor(at / PIECE) * PIECE, at);
      const part = piece.bytes.subarray(at - piece.from, to - piece.from);
      if (part.length === 0) break;
      parts.push(part);
      at += part.length;
    }
    return parts;
  }

  async #piece(begin: number, needed: number): Promise<{ readonly from: number; readonly bytes: Uint8Array }> {
    const known = this.#pieces.get(begin);
    if (known !== undefined && known.from <= needed) {
      this.#pieces.delete(begin);
      this.#pieces.set(begin, known);
      return known;
    }
    const from = Math.max(begin, this.#oldest);
    try {
      const read = { sessionId: this.#sessionId, from_cursor: from, max_bytes: begin + PIECE - from };
      const { data, oldest_cursor } = await this.#client.session.output(read);
      this.#oldest = oldest_cursor;
      const piece = { from, bytes: bytesOf(data) };
      if (from + piece.bytes.length === begin + PIECE) this.#keep(begin, piece);
      return piece;
    } catch (error) {
      const oldest = error instanceof AppError && error.code === "cursor_expired" ? error.details["oldest"] : undefined;
      if (typeof oldest !== "number" || oldest <= from || oldest > needed) throw error;
      this.#oldest = oldest;
      return this.#piece(begin, needed);
    }
  }

  #keep(begin: number, piece: { readonly from: number; readonly bytes: Uint8Array }): void {
    this.#pieces.set(begin, piece);
    const [first] = this.#pieces.keys();
    if (this.#pieces.size > PIECES_KEPT && first !== undefined) this.#pieces.delete(first);
  }
}

function bytesOf(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}
