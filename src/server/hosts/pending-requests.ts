/** Requests that wait for their REPLY. A lost connection ends them: nobody knows what became of them (HST-13). */
import type { JsonObject } from "../../domain/event.ts";
import { AppError, type ErrorCode } from "../../protocol/errors.ts";
import { GatheredBody } from "../../protocol/gathered-body.ts";
import type { HostMessage } from "../../protocol/link.ts";
import { HOST_REFUSALS } from "../../protocol/link-replies.ts";

export type HostReply = { readonly fields: JsonObject; readonly body: Uint8Array };

type ReplyMessage = Extract<HostMessage, { type: "REPLY" }>;
type Pending = {
  readonly resolve: (reply: HostReply) => void;
  readonly reject: (error: AppError) => void;
  readonly body: GatheredBody;
};

export class PendingRequests {
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  /** `send` gives it away under the id. */
  add(send: (id: number) => void): Promise<HostReply> {
    const id = (this.#lastId += 1);
    const { promise, resolve, reject } = Promise.withResolvers<HostReply>();
    this.#pending.set(id, { resolve, reject, body: new GatheredBody() });
    send(id);
    return promise;
  }

  answer(reply: ReplyMessage, part: Uint8Array): void {
    const pending = this.#pending.get(reply.id);
    if (pending === undefined) return;
    const { body } = pending;
    body.add(part);
    if (reply.more === true) return;
    this.#pending.delete(reply.id);
    if (!reply.ok) return pending.reject(refusalOf(reply));
    if (body.isTooLarge) {
      return pending.reject(new AppError("too_large", { detail: "The host's answer is too large." }));
    }
    pending.resolve({ fields: reply.fields ?? {}, body: body.whole() });
  }

  /** Never sent again: what they ask for may have been done. */
  lose(cause: Error): void {
    const lost = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of lost) reject(new AppError("unknown_outcome", {}, { cause }));
  }
}

function refusalOf({ code = "", detail, fields }: ReplyMessage): AppError {
  const known: ErrorCode = HOST_REFUSALS.has(code) ? (code as ErrorCode) : "internal";
  return new AppError(known, { ...fields, ...(detail === undefined ? {} : { detail }) });
}
