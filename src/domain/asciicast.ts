/**
 * Lines of an asciicast v3 file: a header, then events whose times are intervals since the one before. Times may come out of
 * order by a little, as two clocks do; in the file they only grow.
 */
import type { Size } from "./session-frame.ts";

export type CastHeader = Size & { readonly title: string; /** Epoch milliseconds. */ readonly beganAt: number };

export type CastCode = "o" | "r" | "m" | "x";

export class Asciicast {
  /** Of the last line, in milliseconds: intervals are rounded, their sum is not. */
  #at: number;
  readonly #header: CastHeader;

  constructor(header: CastHeader) {
    this.#header = header;
    this.#at = header.beganAt;
  }

  header(): string {
    const { cols, rows, title, beganAt } = this.#header;
    return line({ version: 3, term: { cols, rows }, timestamp: Math.floor(beganAt / 1000), title });
  }

  event(atMs: number, code: CastCode, data: string): string {
    const at = Math.max(this.#at, Math.round(atMs));
    const interval = (at - this.#at) / 1000;
    this.#at = at;
    return line([interval, code, data]);
  }
}

function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
