/**
 * Requests of 2025 clients that can still be cancelled. There, a cancellation is a POST of its own that reaches a
 * server built for it alone, so somebody must remember which exchange it means. A client of 2026-07-28 closes its
 * stream instead and is not in here.
 */
import { isJSONRPCNotification, isJSONRPCRequest } from "@modelcontextprotocol/server";

export class RunningRequests {
  readonly #ends = new Map<string, () => void>();

  /** Remembers a request until the returned function is called. Without a session nothing can name it later. */
  add(session: string | undefined, body: unknown, end: () => void): () => void {
    if (session === undefined || !isJSONRPCRequest(body)) return () => {};
    const key = keyOf(session, body.id);
    this.#ends.set(key, end);
    return () => {
      if (this.#ends.get(key) === end) this.#ends.delete(key);
    };
  }

  /** Ends the request that a cancellation names, if it is the same client's and still runs. */
  cancelIfAsked(session: string | undefined, body: unknown): void {
    if (session === undefined || !isJSONRPCNotification(body) || body.method !== "notifications/cancelled") return;
    this.#ends.get(keyOf(session, body.params?.requestId))?.();
  }
}

/** `1` and `"1"` are different ids. */
function keyOf(session: string, id: unknown): string {
  return JSON.stringify([session, id]);
}
