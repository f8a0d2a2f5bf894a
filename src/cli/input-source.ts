/**
 * What comes on stdin, taken only when somebody asks for it: a command that asks nothing leaves stdin to the next one.
 */
import type { Readable } from "node:stream";

/** What is left of a line that never ends is passed on in parts of this. */
const LINE_MAX = 64 * 1024;
/** Doubled by quoting it still fits into one call. */
const BULK_MAX = 512 * 1024;
/** A producer that is at work brings more within this. */
const GATHER_MS = 5;

export class InputSource implements Disposable {
  readonly #stream: Readable;
  #held: Buffer = Buffer.alloc(0);
  #isOver = false;
  #isListening = false;
  #changed = Promise.withResolvers<void>();

  constructor(stream: Readable) {
    this.#stream = stream;
  }

  /** One line with its end; empty at the end of all. Without anything before the signal: undefined. */
  async line(signal: AbortSignal): Promise<Buffer | undefined> {
    while (!this.#held.includes(LF) && this.#held.length < LINE_MAX && !this.#isOver) {
      if (!(await this.#more(signal))) return undefined;
    }
    const end = this.#held.indexOf(LF);
    return this.#take(end === -1 ? LINE_MAX : end + 1);
  }

  /** Whatever is there; empty at the end of all. Without anything before the signal: undefined. */
  async bulk(signal: AbortSignal): Promise<Buffer | undefined> {
    while (this.#held.length === 0 && !this.#isOver) {
      if (!(await this.#more(signal))) return undefined;
    }
    while (this.#held.length < BULK_MAX && !this.#isOver) {
      const late = AbortSignal.any([signal, AbortSignal.timeout(GATHER_MS)]);
      if (!(await this.#more(late))) break;
    }
    return this.#take(BULK_MAX);
  }

  /** It could not be used: the next one gets it. */
  putBack(bytes: Buffer): void {
    this.#held = Buffer.concat([bytes, this.#held]);
  }

  [Symbol.dispose](): void {
    this.#stream.destroy();
  }

  #take(most: number): Buffer {
    const taken = this.#held.subarray(0, most);
    this.#held = this.#held.subarray(taken.length);
    return taken;
  }

  /** False: nothing came before the signal. */
  async #more(signal: AbortSignal): Promise<boolean> {
    this.#listen();
    const wake = (): void => this.#changed.resolve();
    signal.addEventListener("abort", wake);
    try {
      for (;;) {
        this.#changed = Promise.withResolvers();
        const chunk = this.#stream.read() as Buffer | null;
        if (chunk !== null) this.#held = Buffer.concat([this.#held, chunk]);
        if (chunk !== null || this.#isOver) return true;
        if (signal.aborted) return false;
        await this.#changed.promise;
      }
    } finally {
      signal.removeEventListener("abort", wake);
    }
  }

  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    const over = (): void => {
      this.#isOver = true;
      this.#changed.resolve();
    };
    // Whatever ends it, nothing more comes.
    this.#stream.once("end", over).once("close", over).once("error", over);
    this.#stream.on("readable", () => this.#changed.resolve());
  }
}

const LF = 10;
