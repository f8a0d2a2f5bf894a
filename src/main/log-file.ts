/** Log lines go to a file that never grows without bound; a full disk costs log lines, not the hub. */
import { closeSync, fstatSync, openSync, renameSync, writeSync } from "node:fs";

const MAX_BYTES = 32 * 1024 * 1024;

export class LogFile {
  readonly #path: string;
  #fd: number;
  #size: number;

  constructor(path: string) {
    this.#path = path;
    this.#fd = openSync(path, "a", 0o600);
    this.#size = fstatSync(this.#fd).size;
  }

  write(line: string): void {
    try {
      if (this.#size > MAX_BYTES) this.#turnOver();
      this.#size += writeSync(this.#fd, line);
    } catch {
      // Nowhere left to say so.
    }
  }

  close(): void {
    closeSync(this.#fd);
  }

  #turnOver(): void {
    renameSync(this.#path, `${this.#path}.1`);
    const next = openSync(this.#path, "a", 0o600);
    closeSync(this.#fd);
    this.#fd = next;
    this.#size = 0;
  }
}
