/**
 * Keys as a person presses them, chunk by chunk: without what the terminal says by itself, and with the key that
 * detaches found (TCL-4, TCL-6 in docs/spec/terminal-cli.md).
 */
import { type DetachKey, TypedKeys } from "./typed-keys.ts";

export type KeyListener = { readonly onKeys: (keys: Buffer) => void; readonly onDetach: () => void };

/** A sequence that has begun comes whole within this, and an Escape key alone is not felt to be late. */
const KEY_PAUSE_MS = 30;

export class Keyboard implements Disposable {
  readonly #keys: TypedKeys;
  readonly #listener: KeyListener;
  #pause: NodeJS.Timeout | undefined;

  constructor(detach: DetachKey, listener: KeyListener) {
    this.#keys = new TypedKeys(detach);
    this.#listener = listener;
  }

  push(chunk: Uint8Array): void {
    clearTimeout(this.#pause);
    const { keys, isDetach } = this.#keys.push(chunk);
    this.#tell(keys);
    if (isDetach) this.#listener.onDetach();
    else if (this.#keys.isHolding) this.#pause = setTimeout(() => this.#tell(this.#keys.flush()), KEY_PAUSE_MS);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#pause);
  }

  #tell(keys: Buffer): void {
    if (keys.length > 0) this.#listener.onKeys(keys);
  }
}
