/** Who is calling and how long the answer is wanted. Made by `authenticate.ts` from the credential alone. */
import type { Actor, Role } from "../domain/actor.ts";

export type Caller = {
  readonly actor: Actor;
  readonly role: Role;
  /** The credential behind the call; the operator's own socket has none. */
  readonly tokenId: string | undefined;
  /** Aborted when the credential is revoked or expires: open streams end with it. */
  readonly revoked: AbortSignal;
};

export type CallContext = {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly idempotencyKey?: string | undefined;
};
