/** Puts requests together whose body came in parts. What a lost connection left unfinished was never a request. */
import { AppError } from "../../protocol/errors.ts";
import { type HubRequest, PARTS_MAX } from "../../protocol/link.ts";

export type WholeRequest = { readonly request: HubRequest; readonly body: Uint8Array };

type Unfinished = { readonly parts: Uint8Array[]; bytes: number };

export class RequestParts {
  readonly #unfinished = new Map<number, Unfinished>();

  /** Undefined: more will come. Throws when it is too large; that is said once, with its last part. */
  add(request: HubRequest, body: Uint8Array): WholeRequest | undefined {
    const isLast = !("more" in request) || request.more !== true;
    const before = this.#unfinished.get(request.id);
    if (before === undefined && isLast) return { request, body };
    const unfinished = before ?? { parts: [], bytes: 0 };
    unfinished.bytes += body.length;
    if (unfinished.bytes > PARTS_MAX) unfinished.parts.length = 0;
    else unfinished.parts.push(body);
    if (!isLast) {
      this.#unfinished.set(request.id, unfinished);
      return undefined;
    }
    this.#unfinished.delete(request.id);
    if (unfinished.bytes > PARTS_MAX)
      throw new AppError("too_large", { detail: "The input is too large for the link." });
    return { request, body: Buffer.concat(unfinished.parts) };
  }
}
