/** A device that only takes bytes: what a terminal is to its gate, without a terminal. */
import type { Actor } from "../../src/domain/actor.ts";
import type { JsonObject } from "../../src/domain/event.ts";
import type { GateDevice } from "../../src/host/gate.ts";

export type SinkListener = {
  /** The program has these bytes now. */
  readonly took: (bytes: Uint8Array) => void;
  readonly record: (payload: JsonObject, by: Actor) => number;
};

type Piece = { bytes: Uint8Array; readonly covered: (() => boolean) | undefined };

/** As much as one write brings: longer inputs go in by parts, and each is judged. */
const CHUNK = 8;

export class Sink implements GateDevice {
  readonly cursor = 0;
  readonly atShell = false;
  readonly #listener: SinkListener;
  #queue: Piece[] = [];
  #reads = true;

  constructor(listener: SinkListener) {
    this.#listener = listener;
  }

  get waiting(): number {
    return this.#queue.reduce((sum, it) => sum + it.bytes.length, 0);
  }

  /** Whether the program behind it reads. */
  set reads(reads: boolean) {
    this.#reads = reads;
    this.#pump();
  }

  write(bytes: Uint8Array, covered?: () => boolean): void {
    this.#queue.push({ bytes, covered });
    this.#pump();
  }

  /** Drops what was not taken. */
  clear(): void {
    this.#queue = [];
  }

  record(payload: JsonObject, by: Actor): number {
    return this.#listener.record(payload, by);
  }

  modes(): { readonly hidden: boolean; readonly secretLine: boolean; readonly focus: boolean } {
    return { hidden: false, secretLine: false, focus: false };
  }

  async promptStands(): Promise<boolean> {
    return true;
  }

  entered(): void {}

  taken(): void {}

  #pump(): void {
    while (this.#reads) {
      const head = this.#queue[0];
      if (head === undefined) return;
      const isCovered = head.covered?.() !== false;
      // Asking may have cleared the queue.
      if (this.#queue[0] !== head) continue;
      if (isCovered) this.#listener.took(head.bytes.subarray(0, CHUNK));
      head.bytes = isCovered ? head.bytes.subarray(CHUNK) : new Uint8Array(0);
      if (head.bytes.length === 0) this.#queue.shift();
    }
  }
}
