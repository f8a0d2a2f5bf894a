/**
 * One way into every operation, whatever the door: role, input, idempotency, time budget, handler. Doors translate;
 * they decide nothing. Rules SEC-2, HTP-2, HTP-9 in docs/spec.
 */
import type { AnswerDesk } from "../hub/answer-desk.ts";
import { CursorExpired, StorageFailed } from "../hub/ports.ts";
import type { Logger } from "../lib/logger.ts";
import { AppError } from "../protocol/errors.ts";
import type { Operation } from "../protocol/operation.ts";
import { type CallName, operation, type OperationName, type Output, type ParsedInput } from "../protocol/operations.ts";
import { invalidRequest, parseInput } from "../protocol/parse.ts";
import type { CallContext, Caller } from "./caller.ts";

export type Handler<N extends CallName> = (
  input: ParsedInput<N>,
  context: CallContext,
) => Promise<Output<N>> | Output<N>;
export type Handlers = { readonly [N in CallName]: Handler<N> };

export type DispatcherParts = {
  readonly handlers: Handlers;
  readonly answers: AnswerDesk;
  readonly logger: Logger;
  readonly newId: () => string;
  readonly digest: (text: string) => string;
  /** Of what may be a password: nobody without the hub's key can try words against it. */
  readonly secretDigest: (text: string) => string;
  /** Aborted when the hub goes down: nobody waits for an event any longer. */
  readonly hubEnds: AbortSignal;
  readonly onCall?: (name: OperationName, code: string, seconds: number) => void;
};

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,200}$/;

export class Dispatcher {
  readonly #parts: DispatcherParts;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
  }

  async call(name: CallName, rawInput: unknown, context: CallContext): Promise<unknown> {
    const startedAt = performance.now();
    let code = "ok";
    try {
      const op = this.admit(name, context.caller);
      const input = parseInput(op, rawInput);
      return await this.#perform(op, input, context);
    } catch (error) {
      const known = this.explain(error, name);
      code = known.code;
      throw known;
    } finally {
      this.#parts.onCall?.(name, code, (performance.now() - startedAt) / 1000);
    }
  }

  /** Refuses a role that the table does not name. */
  admit(name: OperationName, caller: Caller): Operation {
    const op = operation(name);
    if (caller.revoked.aborted) throw new AppError("unauthenticated", { detail: "The credential was revoked" });
    if (op.roles.includes(caller.role)) return op;
    const detail = `You are ${caller.role}; ${name} is for ${op.roles.join(" or ")}`;
    throw new AppError("forbidden", { role: caller.role, operation: name, roles: [...op.roles], detail });
  }

  /** Whatever went wrong, as something a caller may see. A bug keeps its details in our log, under an id. */
  explain(error: unknown, name: string): AppError {
    if (error instanceof AppError) return error;
    if (error instanceof CursorExpired)
      return new AppError("cursor_expired", { oldest: error.oldest }, { cause: error });
    if (error instanceof StorageFailed) return new AppError("storage_unavailable", {}, { cause: error });
    const id = this.#parts.newId();
    this.#parts.logger.error("a call failed by a fault of ours", { id, operation: name, error });
    return new AppError("internal", { id, detail: `A fault of ours; the hub's log has it as ${id}` }, { cause: error });
  }

  #perform(op: Operation, input: Record<string, unknown>, context: CallContext): Promise<unknown> {
    const act = () => this.#withinBudget(op, input, context);
    const { idempotencyKey, caller } = context;
    if (idempotencyKey === undefined || op.idempotency === "none") return act();
    if (!IDEMPOTENCY_KEY.test(idempotencyKey)) {
      throw invalidRequest("Idempotency-Key", "Idempotency-Key must be 1 to 200 visible ASCII characters");
    }
    const keyed = {
      scope: scopeOf(op, caller),
      key: idempotencyKey,
      inputHash: this.#parts.digest(this.#fingerprint(op, input)),
      keep: op.idempotency,
    };
    return this.#parts.answers.once(keyed, act);
  }

  /** What is kept about a call to recognise it again. */
  #fingerprint(op: Operation, input: Readonly<Record<string, unknown>>): string {
    const { secretDigest } = this.#parts;
    const shown = Object.entries(input).map(([key, value]) => [
      key,
      op.secretInput.includes(key) && typeof value === "string" ? secretDigest(value) : value,
    ]);
    return JSON.stringify(shown);
  }

  async #withinBudget(op: Operation, input: unknown, context: CallContext): Promise<unknown> {
    const handler = this.#parts.handlers[op.name as CallName] as (input: unknown, context: CallContext) => unknown;
    const budget = AbortSignal.timeout(op.budgetMs);
    const { hubEnds } = this.#parts;
    const signal = op.cancellation === "abort" ? AbortSignal.any([context.signal, budget, hubEnds]) : budget;
    let late: (() => void) | undefined;
    const overdue = new Promise<never>((_resolve, reject) => {
      late = () => reject(new AppError("unknown_outcome", { detail: `No answer within ${op.budgetMs} ms` }));
      budget.addEventListener("abort", late);
    });
    try {
      return await Promise.race([handler(input, { ...context, signal }), overdue]);
    } finally {
      if (late !== undefined) budget.removeEventListener("abort", late);
    }
  }
}

/** Two roles of one name are two callers; and an answer that holds a secret is for the credential that got it. */
function scopeOf(op: Operation, { actor, role, tokenId }: Caller): string {
  return JSON.stringify([
    op.name,
    role,
    actor.kind,
    actor.id,
    ...(op.idempotency === "memory" ? [tokenId ?? null] : []),
  ]);
}
