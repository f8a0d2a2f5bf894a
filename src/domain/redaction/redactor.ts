/**
 * Masks secrets in a session's output, byte for byte, before it leaves the host: as many bytes come out as went in,
 * and what comes out is the same however the input was cut into chunks. At most 32 bytes are held at any moment.
 * Rules RED-1.. in docs/spec/redaction.md.
 */
import { MaskedRanges, merged, type Range } from "./masked-ranges.ts";
import { Scanner } from "./scanner.ts";
import { SecretValues } from "./secret-values.ts";
import { Window } from "./window.ts";

const MASK = 0x2a;
const NONE = new Uint8Array(0);

export class Redactor {
  readonly #window: Window;
  readonly #scanner: Scanner;
  readonly #values: SecretValues;
  readonly #masked = new MaskedRanges();
  /** Offset of the first byte that has not left. */
  #sent: number;
  #untold: Range[] = [];

  /** `cursor` is the canonical offset of the first byte that will be pushed. */
  constructor(cursor = 0) {
    const mask = (at: number): void => this.#masked.add(at);
    this.#window = new Window(cursor);
    this.#scanner = new Scanner(this.#window, mask);
    this.#values = new SecretValues(this.#window, mask);
    this.#sent = cursor;
  }

  /** Bytes held now. */
  get held(): number {
    return this.#window.end - this.#sent;
  }

  /** What may leave now. Clean bytes are answered as they are, without a copy. */
  push(bytes: Uint8Array): Uint8Array {
    const begin = this.#window.end;
    this.#window.append(bytes);
    this.#scanner.scan();
    this.#values.scan();
    return this.#release(this.#sent === begin ? bytes : undefined);
  }

  /** After a while of quiet: nothing stays held, and what continues it is masked. */
  settle(): Uint8Array {
    this.#scanner.settle();
    this.#values.settle();
    return this.#release();
  }

  /** At a mark, a prompt, the exit. It ends no secret: a prompt may be seen between two keys of it. */
  barrier(): Uint8Array {
    return this.settle();
  }

  /**
   * Where something else begins: a shell's prompt, the answer to a question that was asked without echo. Else the text
   * after `Password: ` would be masked as its value, on the same line, whoever prints it.
   */
  cut(): Uint8Array {
    this.#scanner.settle();
    this.#values.settle();
    this.#scanner.cut();
    return this.#release();
  }

  /** What was masked since the last call, as ranges of canonical offsets. */
  takeRanges(): readonly Range[] {
    const told = merged(this.#untold);
    this.#untold = [];
    return told;
  }

  /** What a person typed at a secret prompt: masked by value in the next 4 KB. */
  expectSecret(value: Uint8Array): void {
    this.#values.expect(value);
  }

  forgetSecrets(): void {
    this.#values.forget();
  }

  /** `whole` is what leaves if nothing of it is held or masked. */
  #release(whole?: Uint8Array): Uint8Array {
    const from = this.#sent;
    const to = Math.min(this.#scanner.heldFrom, this.#values.heldFrom);
    const ranges = this.#masked.takeBefore(to);
    const clean = ranges.length === 0 && whole !== undefined && to === this.#window.end;
    const released = clean ? whole : from === to ? NONE : this.#window.slice(from, to);
    for (const [begin, end] of ranges) released.fill(MASK, begin - from, end - from);
    for (const range of ranges) this.#untold.push(range);
    this.#sent = to;
    this.#window.forgetBefore(to);
    return released;
  }
}
