/**
 * What a command without a terminal writes: both of its streams, each masked by itself, in one stream of frames; `stderr`
 * events tell which parts are errors. Small pieces are gathered, so that a program that changes between the two makes no
 * flood of events. Rule RMC-12 in docs/spec/commands.md.
 */
import { Socket } from "node:net";
import { setTimeout as later } from "node:timers/promises";
import { Redactor } from "../../../domain/redaction/redactor.ts";
import type { OutputPipes } from "./command-launch.ts";
import type { Frames } from "../frames.ts";

export type PlainOutputOptions = {
  readonly pipes: OutputPipes;
  readonly frames: Frames;
  readonly redaction: "on" | "off";
  readonly onOutput: (bytes: Uint8Array, cursor: number) => void;
};

export class PlainOutput {
  readonly #options: PlainOutputOptions;
  readonly #streams: readonly OneStream[];
  #received = 0;
  #isPaused = false;
  #gathering: NodeJS.Timeout | undefined;
  #settling: NodeJS.Timeout | undefined;

  constructor(options: PlainOutputOptions) {
    this.#options = options;
    const { pipes, redaction } = options;
    const onData = (bytes: number): void => this.#came(bytes);
    this.#streams = [
      new OneStream({ fd: pipes.stdout, isErrors: false, redaction, onData }),
      new OneStream({ fd: pipes.stderr, isErrors: true, redaction, onData }),
    ];
  }

  pause(): void {
    this.#isPaused = true;
    for (const stream of this.#streams) stream.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (const stream of this.#streams) stream.resume();
  }

  /** The command has ended: resolves when all that it wrote is told. What it left behind may hold the pipes for ever. */
  async end(): Promise<void> {
    const all = Promise.all(this.#streams.map((it) => it.ended)).then(() => "all" as const);
    let before = -1;
    // While nobody reads them, their silence says nothing; what was left behind and can't be ended may never be silent.
    for (let looks = 0; this.#isPaused || (before !== this.#received && looks < LOOKS_MAX);) {
      before = this.#received;
      if (!this.#isPaused) looks += 1;
      if ((await Promise.race([all, later(QUIET_MS)])) === "all") break;
    }
    clearTimeout(this.#gathering);
    clearTimeout(this.#settling);
    for (const stream of this.#streams) stream.close();
    this.#tell();
  }

  #came(bytes: number): void {
    this.#received += bytes;
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.#tell();
    }, GATHER_MS);
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => {
      for (const stream of this.#streams) stream.settle();
      this.#tell();
    }, SETTLE_MS);
  }

  #tell(): void {
    const { frames, onOutput } = this.#options;
    for (const stream of this.#streams) {
      const { cursor } = frames;
      const { bytes, masked } = stream.take(cursor);
      if (bytes.length === 0) continue;
      frames.bytes(bytes);
      onOutput(bytes, cursor);
      if (stream.isErrors) frames.event("stderr", { cursor, length: bytes.length });
      if (masked.length > 0) frames.event("redacted", { ranges: masked });
    }
  }
}

type StreamOptions = {
  readonly fd: number;
  readonly isErrors: boolean;
  readonly redaction: "on" | "off";
  readonly onData: (bytes: number) => void;
};

class OneStream {
  readonly isErrors: boolean;
  readonly ended: Promise<void>;
  readonly #socket: Socket;
  readonly #redactor: Redactor | undefined;
  #parts: Uint8Array[] = [];
  /** Of this stream alone, how much was taken. */
  #taken = 0;

  constructor({ fd, isErrors, redaction, onData }: StreamOptions) {
    this.isErrors = isErrors;
    this.#redactor = redaction === "on" ? new Redactor() : undefined;
    this.#socket = new Socket({ fd, readable: true, writable: false });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#socket.on("data", (bytes: Buffer) => {
      this.#keep(this.#redactor === undefined ? bytes : this.#redactor.push(bytes));
      onData(bytes.length);
    });
    this.#socket.on("error", () => resolve());
    this.#socket.on("close", () => resolve());
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  settle(): void {
    if (this.#redactor !== undefined) this.#keep(this.#redactor.settle());
  }

  close(): void {
    this.#socket.destroy();
    if (this.#redactor !== undefined) this.#keep(this.#redactor.barrier());
  }

  /** What came since the last time, as it stands from `cursor` on. */
  take(cursor: number): { readonly bytes: Uint8Array; readonly masked: [number, number][] } {
    const bytes = Buffer.concat(this.#parts);
    const shift = cursor - this.#taken;
    this.#parts = [];
    this.#taken += bytes.length;
    const ranges = this.#redactor?.takeRanges() ?? [];
    return { bytes, masked: ranges.map(([from, to]) => [from + shift, to + shift]) };
  }

  /** A copy: the redactor and the socket keep theirs. */
  #keep(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#parts.push(Uint8Array.from(bytes));
  }
}

const GATHER_MS = 10;
const SETTLE_MS = 20;
const QUIET_MS = 200;
const LOOKS_MAX = 10;
