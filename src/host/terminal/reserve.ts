/**
 * Descriptors kept for stopping. A full table must not keep a person from stopping an agent: they are given up for the
 * length of one look at /proc or one flush, and taken back in the same turn. Rule STP-17 in docs/spec/stopping.md.
 */
import { closeSync, openSync } from "node:fs";

/** A new shell takes three at once: its terminal's two ends, and the file being written for it. */
const KEPT = 8;

class DescriptorReserve {
  readonly #held: number[] = [];
  #borrowed = 0;

  /** As many as can be had. */
  fill(): void {
    try {
      while (this.#borrowed === 0 && this.#held.length < KEPT) this.#held.push(openSync("/dev/null", "r"));
    } catch {
      // The table is full: the next one who gives back fills it.
    }
  }

  during<T>(work: () => T): T {
    this.#release();
    try {
      return work();
    } finally {
      this.#takeBack();
    }
  }

  /** Only where it can't be helped that others may take them meanwhile. */
  async throughout<T>(work: () => Promise<T>): Promise<T> {
    this.#release();
    try {
      return await work();
    } finally {
      this.#takeBack();
    }
  }

  #release(): void {
    this.#borrowed += 1;
    for (const fd of this.#held.splice(0)) closeSync(fd);
  }

  #takeBack(): void {
    this.#borrowed -= 1;
    this.fill();
  }
}

/** One for the process, as the table is. */
export const reserve = new DescriptorReserve();
