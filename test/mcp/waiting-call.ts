import type { Call } from "./door-server.ts";

/** An operation that ends only when it is aborted or finished by the test. */
export class WaitingCall {
  readonly #begun = Promise.withResolvers<void>();
  readonly #aborted = Promise.withResolvers<void>();
  readonly #finished = Promise.withResolvers<unknown>();
  readonly begun = this.#begun.promise;
  readonly aborted = this.#aborted.promise;

  readonly call: Call = async (_name, _input, { signal }) => {
    signal.addEventListener("abort", () => {
      this.#aborted.resolve();
      this.#finished.reject(signal.reason);
    });
    this.#begun.resolve();
    return this.#finished.promise;
  };

  finish(value: unknown): void {
    this.#finished.resolve(value);
  }
}
