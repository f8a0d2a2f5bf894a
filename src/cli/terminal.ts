/** Where a command speaks (answers on stdout, everything else on stderr) and listens. */
import { once } from "node:events";
import { fstatSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { printable, printableJson } from "./printable.ts";
import { type Column, renderTable } from "./table.ts";

export type Sink = Writable & { readonly isTTY?: boolean; readonly columns?: number };
export type Source = Readable & { readonly isTTY?: boolean };

export class Terminal {
  readonly #out: Sink;
  readonly #err: Sink;
  readonly #source: () => Source | undefined;

  constructor(out: Sink, err: Sink, source: () => Source | undefined) {
    this.#out = out;
    this.#err = err;
    this.#source = source;
  }

  /** What is on stdin; undefined: nothing ever. */
  get input(): Source | undefined {
    return this.#source();
  }

  /** Of the terminal behind stdout; undefined for a pipe or a file, where nothing is to be cut. */
  get width(): number | undefined {
    return this.#out.isTTY === true ? this.#out.columns || 80 : undefined;
  }

  get isTTY(): boolean {
    return this.#out.isTTY === true;
  }

  /** Bytes as they are, onto stdout. */
  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length > 0 && !this.#out.write(bytes)) await this.drained();
  }

  print(text: string): void {
    this.#out.write(`${text}\n`);
  }

  printJson(value: unknown): void {
    this.print(printableJson(value, 2));
  }

  printTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): void {
    this.print(renderTable(columns, rows, this.width));
  }

  /** One thing in full, a line for each field. */
  printFields(fields: object): void {
    const width = Math.max(...Object.keys(fields).map((name) => name.length));
    for (const [name, value] of Object.entries(fields)) {
      this.print(`${name.padEnd(width)}  ${printable(String(value))}`);
    }
  }

  note(text: string): void {
    this.#err.write(`${text}\n`);
  }

  /** Resolves when stdout takes more: a slow reader must not fill our memory. */
  async drained(): Promise<void> {
    if (this.#out.writableNeedDrain) await once(this.#out, "drain");
  }
}

/** Opened only by who asks, for it would keep the process alive. */
export function openStdin(): Source | undefined {
  return fstatSync(0).rdev === NULL_DEVICE ? undefined : process.stdin;
}

/** 1, 3 */
const NULL_DEVICE = 0x103;

/** A reader that has seen enough (`| head`) is no failure: end without a word, or go on unheard. */
export function handleClosedPipe(then: "end" | "go on"): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      if (then === "end") process.exit(0);
    });
  }
}
