/** Puts requests together whose body came in parts. What a lost connection left unfinished was never a request. */
import { AppError } from "../../protocol/errors.ts";
import { GatheredBody } from "../../protocol/gathered-body.ts";
import type { HubRequest } from "../../protocol/link.ts";

export type WholeRequest = { readonly request: HubRequest; readonly body: Uint8Array };

/** Of one connection. A hub of ours has one at a time. */
const UNFINISHED_MAX = 64;
/** What all of them may cost to keep. */
const COST_MAX = 32 * 1024 * 1024;

export class RequestParts {
  readonly #onFlood: () => void;
  readonly #unfinished = new Map<number, GatheredBody>();

  /** `onFlood`: more requests are unfinished than can be kept apart, so the rest of one would pass for a whole one. */
  constructor(onFlood: () => void) {
    this.#onFlood = onFlood;
  }

  /** Undefined: more will come. Throws when it is too large; that is said once, with its last part. */
  add(request: HubRequest, part: Uint8Array): WholeRequest | undefined {
    const isLast = !("more" in request) || request.more !== true;
    const before = this.#unfinished.get(request.id);
    if (before === undefined && isLast) return { request, body: part };
    const body = before ?? new GatheredBody();
    this.#unfinished.set(request.id, body);
    if (this.#unfinished.size > UNFINISHED_MAX) {
      this.#onFlood();
      return undefined;
    }
    body.add(part);
    if (this.#cost > COST_MAX) body.drop();
    if (!isLast) return undefined;
    this.#unfinished.delete(request.id);
    if (body.isTooLarge) throw new AppError("too_large", { detail: "The input is too large for the link." });
    return { request, body: body.whole() };
  }

  get #cost(): number {
    return [...this.#unfinished.values()].reduce((sum, it) => sum + it.cost, 0);
  }
}
