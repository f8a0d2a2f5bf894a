/**
 * The only writer to a terminal's master. Bytes go in whole and in order at the pace of the reader: the descriptor is
 * non-blocking, and a full one is tried again later. Rules PTY-6..PTY-8 in docs/spec/terminal.md.
 */
import { writeSync } from "node:fs";

/** The descriptor is asked for only while `open`. */
export type WriterDevice = { readonly fd: number; readonly open: boolean };

type Piece = { readonly bytes: Uint8Array; readonly covered: (() => boolean) | undefined };

export class PtyWriter {
  readonly #device: WriterDevice;
  readonly #onCaughtUp: () => void;
  readonly #isHeld: () => boolean;
  #queue: Piece[] = [];
  #offset = 0;
  #waiting = 0;
  #delayMs = FIRST_DELAY_MS;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;

  /** `onCaughtUp`: nothing waits any more of what did. `isHeld`: not now; it is asked again soon. */
  constructor(device: WriterDevice, onCaughtUp: () => void = () => undefined, isHeld: () => boolean = () => false) {
    this.#device = device;
    this.#onCaughtUp = onCaughtUp;
    this.#isHeld = isHeld;
  }

  /** Bytes that the terminal has not taken yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Inputs of which at least the end still waits. */
  get pieces(): number {
    return this.#queue.length;
  }

  /** `covered` is asked before each write: once it says no, the rest of the piece is dropped. */
  write(bytes: Uint8Array, covered?: () => boolean): void {
    if (!this.#device.open || bytes.length === 0) return;
    this.#queue.push({ bytes, covered });
    this.#waiting += bytes.length;
    if (this.#timer === undefined && this.#immediate === undefined) this.#pump();
  }

  /** Drops what waits; answers how many bytes that was. */
  cancel(): number {
    const dropped = this.#waiting;
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    this.#timer = undefined;
    this.#immediate = undefined;
    this.#queue = [];
    this.#offset = 0;
    this.#waiting = 0;
    this.#delayMs = FIRST_DELAY_MS;
    if (dropped > 0) this.#onCaughtUp();
    return dropped;
  }

  #goOn(): void {
    this.#timer = undefined;
    this.#immediate = undefined;
    this.#pump();
    if (this.#queue.length === 0) this.#onCaughtUp();
  }

  #pump(): void {
    for (let turn = 0; turn < CHUNKS_A_TURN; turn += 1) {
      const head = this.#queue[0];
      if (head === undefined) return;
      if (this.#isHeld()) return this.#later();
      if (head.covered?.() === false) {
        this.#drop(head);
        continue;
      }
      const taken = this.#attempt(head.bytes.subarray(this.#offset, this.#offset + CHUNK));
      if (taken === "full") return this.#later();
      if (taken === "gone") return void this.cancel();
      this.#advance(head, taken);
    }
    // Other sessions and our own reader get their turn: the echo of a paste must not fill the terminal.
    this.#immediate = setImmediate(() => this.#goOn());
  }

  #attempt(bytes: Uint8Array): number | "full" | "gone" {
    // A closed descriptor's number may already be somebody else's.
    if (!this.#device.open) return "gone";
    try {
      return writeSync(this.#device.fd, bytes);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EAGAIN" || code === "EINTR") return "full";
      if (code === "EIO" || code === "EBADF") return "gone";
      throw error;
    }
  }

  #advance(head: Piece, taken: number): void {
    this.#delayMs = FIRST_DELAY_MS;
    this.#waiting -= taken;
    this.#offset += taken;
    if (this.#offset === head.bytes.length) this.#next();
  }

  /** Asking may have cancelled all of it already. */
  #drop(head: Piece): void {
    if (this.#queue[0] !== head) return;
    this.#waiting -= head.bytes.length - this.#offset;
    this.#next();
  }

  #next(): void {
    this.#queue.shift();
    this.#offset = 0;
  }

  #later(): void {
    this.#timer = setTimeout(() => this.#goOn(), this.#delayMs);
    this.#delayMs = Math.min(this.#delayMs * 2, LAST_DELAY_MS);
  }
}

/** What a line discipline holds; a larger write is cut there anyway. */
const CHUNK = 4096;
const CHUNKS_A_TURN = 8;
const FIRST_DELAY_MS = 1;
const LAST_DELAY_MS = 16;
