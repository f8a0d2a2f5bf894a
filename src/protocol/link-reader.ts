/**
 * Finds messages in the bytes of a link, however they are cut. Each byte is copied at most once. What a message says
 * is not judged here; one that is too large or no JSON is passed over, and only a length that can't be true ends the
 * reading (HST-3, HST-4 in docs/spec/host.md).
 */
import { BODY_MAX, HEADER_MAX } from "./link.ts";

export type LinkFault = {
  /** `framing`: nothing that follows can be read. */
  readonly kind: "malformed" | "framing";
  readonly detail: string;
};

export type LinkListener = {
  /** The body is the listener's to keep. `bytes`: of all of the message. */
  readonly message: (header: unknown, body: Uint8Array, bytes: number) => void;
  readonly fault: (fault: LinkFault) => void;
};

const MESSAGE_MAX = 4 + HEADER_MAX + BODY_MAX;
/** A longer message is taken for a lost place in the stream. */
const PASSED_OVER_MAX = 64 * 1024 * 1024;

const decoder = new TextDecoder("utf-8", { fatal: true });

export class MessageReader {
  readonly #listener: LinkListener;
  readonly #length = new Uint8Array(4);
  #lengthFilled = 0;
  #message: Uint8Array | undefined;
  #messageFilled = 0;
  #passOver = 0;
  #ended = false;

  constructor(listener: LinkListener) {
    this.#listener = listener;
  }

  /** Also from within the listener: nothing more is told. */
  end(): void {
    this.#ended = true;
    this.#message = undefined;
  }

  /** The chunk is the caller's again afterwards: it may be a buffer that the next read fills. */
  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length && !this.#ended;) {
      if (this.#passOver > 0) at += this.#skip(chunk.length - at);
      else if (this.#message !== undefined) at += this.#fill(this.#message, chunk, at);
      else at += this.#begin(chunk, at);
    }
  }

  #skip(available: number): number {
    const skipped = Math.min(this.#passOver, available);
    this.#passOver -= skipped;
    return skipped;
  }

  #begin(chunk: Uint8Array, at: number): number {
    if (this.#lengthFilled > 0 || chunk.length - at < 4) {
      this.#length[this.#lengthFilled++] = chunk[at]!;
      if (this.#lengthFilled === 4) {
        this.#lengthFilled = 0;
        this.#expect(uint32(this.#length, 0));
      }
      return 1;
    }
    const rest = uint32(chunk, at);
    if (chunk.length - at - 4 >= rest && rest <= MESSAGE_MAX) {
      this.#deliver(chunk.subarray(at + 4, at + 4 + rest), { isOurs: false });
      return 4 + rest;
    }
    this.#expect(rest);
    return 4;
  }

  #expect(rest: number): void {
    if (rest < 4 || rest > PASSED_OVER_MAX) return this.#lose(`a message can't have ${rest} bytes`);
    if (rest <= MESSAGE_MAX) {
      this.#message = new Uint8Array(rest);
      this.#messageFilled = 0;
      return;
    }
    this.#passOver = rest;
    this.#complain(`a message of ${rest} bytes is too large`);
  }

  #fill(message: Uint8Array, chunk: Uint8Array, at: number): number {
    const length = Math.min(message.length - this.#messageFilled, chunk.length - at);
    message.set(chunk.subarray(at, at + length), this.#messageFilled);
    this.#messageFilled += length;
    if (this.#messageFilled === message.length) {
      this.#message = undefined;
      this.#deliver(message, { isOurs: true });
    }
    return length;
  }

  #deliver(message: Uint8Array, { isOurs }: { readonly isOurs: boolean }): void {
    const headerBytes = message.length < 4 ? Number.POSITIVE_INFINITY : uint32(message, 0);
    if (headerBytes > message.length - 4) return this.#lose("a header is longer than its message");
    const bodyBytes = message.length - 4 - headerBytes;
    if (headerBytes > HEADER_MAX) return this.#complain(`a header of ${headerBytes} bytes is too large`);
    if (bodyBytes > BODY_MAX) return this.#complain(`a body of ${bodyBytes} bytes is too large`);
    let header: unknown;
    try {
      header = JSON.parse(decoder.decode(message.subarray(4, 4 + headerBytes)));
    } catch {
      return this.#complain("a header is not JSON");
    }
    const body = message.subarray(4 + headerBytes);
    this.#listener.message(header, isOurs || bodyBytes === 0 ? body : new Uint8Array(body), message.length);
  }

  #complain(detail: string): void {
    this.#listener.fault({ kind: "malformed", detail });
  }

  #lose(detail: string): void {
    this.end();
    this.#listener.fault({ kind: "framing", detail });
  }
}

function uint32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}
