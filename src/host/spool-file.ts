/**
 * What no longer fits into memory while the hub is away: messages one after the other in a file, read again in the
 * same order. It belongs to this run of the host, so nothing of it is ever read by another.
 */
import { closeSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from "node:fs";

/** Larger than any message. */
const READ_BYTES = 2 * 1024 * 1024;

export class SpoolFile {
  readonly #path: string;
  #descriptor: number | undefined;
  #written = 0;
  #read = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** On disk, those that were read again included: the file shrinks only when it is empty. */
  get bytes(): number {
    return this.#written;
  }

  get isEmpty(): boolean {
    return this.#read === this.#written;
  }

  /** All of it, or it throws and nothing was added. */
  append(bytes: Uint8Array): void {
    this.#descriptor ??= openSync(this.#path, "w+", 0o600);
    for (let done = 0; done < bytes.length;) {
      done += writeSync(this.#descriptor, bytes, done, bytes.length - done, this.#written + done);
    }
    this.#written += bytes.length;
  }

  /** The next whole messages, and they are gone from here. */
  take(): Uint8Array[] {
    if (this.isEmpty || this.#descriptor === undefined) return [];
    const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, this.#written - this.#read));
    const length = readSync(this.#descriptor, buffer, 0, buffer.length, this.#read);
    const messages: Uint8Array[] = [];
    let at = 0;
    while (at + 4 <= length && at + 4 + buffer.readUInt32BE(at) <= length) {
      const end = at + 4 + buffer.readUInt32BE(at);
      messages.push(buffer.subarray(at, end));
      at = end;
    }
    if (at === 0) throw new Error(`${this.#path} ends in the middle of a message`);
    this.#read += at;
    if (this.isEmpty) this.#shrink(this.#descriptor);
    return messages;
  }

  close(): void {
    if (this.#descriptor === undefined) return;
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
    rmSync(this.#path, { force: true });
  }

  #shrink(descriptor: number): void {
    this.#written = 0;
    this.#read = 0;
    ftruncateSync(descriptor);
  }
}
