/**
 * Idempotency-Key: the same key gives the same answer and never a second effect. That a call began is stored before
 * it acts; a call that began in a former life of the hub and left no answer is reported `unknown_outcome`, never tried
 * again (HTP-9).
 */
import type { JsonObject } from "../domain/event.ts";
import { AppError, type ErrorCode, problemOf, type Problem } from "../protocol/errors.ts";
import type { AnswerStore, RememberedAnswer } from "./ports.ts";

export type Keyed = {
  /** Who calls what: keys of two callers never meet. */
  readonly scope: string;
  readonly key: string;
  readonly inputHash: string;
  /** `memory`: the answer holds a secret and must not reach the disk. */
  readonly keep: "stored" | "memory";
};

type Outcome = { readonly output: unknown } | { readonly problem: Problem };

const MAX_IN_MEMORY = 10_000;
/** Refusals that come before any effect. A failed write is none of them: what came before it may have acted. */
const NOTHING_DONE: ReadonlySet<ErrorCode> = new Set(["limit_reached", "kind_unavailable", "needs_open"]);

export class AnswerDesk {
  readonly #store: AnswerStore;
  /** Calls of this life of the hub: running, or with an answer that only memory keeps. */
  readonly #here = new Map<string, { readonly inputHash: string; readonly outcome: Promise<Outcome> }>();

  constructor(store: AnswerStore) {
    this.#store = store;
  }

  async once(keyed: Keyed, act: () => Promise<unknown>): Promise<unknown> {
    const id = `${keyed.scope}\0${keyed.key}`;
    const known = this.#here.get(id);
    if (known !== undefined) {
      refuseOtherInput(known.inputHash, keyed);
      return open(await known.outcome);
    }
    const outcome = this.#perform(keyed, act);
    this.#here.set(id, { inputHash: keyed.inputHash, outcome });
    // A failure to store that it began is no outcome: the next try may act.
    outcome.catch(() => this.#here.delete(id));
    const settled = await outcome;
    if (keyed.keep === "stored" || isNothingDone(settled)) this.#here.delete(id);
    else if (this.#here.size > MAX_IN_MEMORY) this.#here.delete(this.#here.keys().next().value ?? "");
    return open(settled);
  }

  async #perform(keyed: Keyed, act: () => Promise<unknown>): Promise<Outcome> {
    const { scope, key, inputHash } = keyed;
    const remembered = await this.#store.get(scope, key);
    if (remembered !== undefined) return recall(remembered, keyed);
    await this.#store.put(scope, key, { state: "started", inputHash });
    const outcome = await act().then(
      (output): Outcome => ({ output }),
      (error: unknown): Outcome => {
        if (error instanceof AppError) return { problem: problemOf(error) };
        throw error;
      },
    );
    if (isNothingDone(outcome)) {
      // Nothing was done and it may work later: the key is free again.
      await this.#store.forget(scope, key);
    } else if (keyed.keep === "stored") {
      await this.#store.put(scope, key, { state: "done", inputHash, answer: outcome as JsonObject });
    }
    return outcome;
  }
}

function isNothingDone(outcome: Outcome): boolean {
  return "problem" in outcome && NOTHING_DONE.has(outcome.problem.code);
}

function recall(remembered: RememberedAnswer, keyed: Keyed): Outcome {
  refuseOtherInput(remembered.inputHash, keyed);
  if (remembered.state === "started") throw new AppError("unknown_outcome", { key: keyed.key });
  return remembered.answer as unknown as Outcome;
}

function refuseOtherInput(inputHash: string, keyed: Keyed): void {
  if (inputHash === keyed.inputHash) return;
  throw new AppError("invalid_request", {
    detail: "This Idempotency-Key was used with another request",
    key: keyed.key,
  });
}

function open(outcome: Outcome): unknown {
  if ("output" in outcome) return outcome.output;
  const { type: _type, title: _title, status: _status, code, ...details } = outcome.problem;
  throw new AppError(code, details);
}
