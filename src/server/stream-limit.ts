/** How many streams one actor may hold open: each costs the hub memory that no other limit counts. */
import { AppError } from "../protocol/errors.ts";
import type { Caller } from "./caller.ts";

const MAX_STREAMS = 200;

export class StreamLimit {
  readonly #open = new Map<string, number>();

  check(caller: Caller): void {
    if ((this.#open.get(keyOf(caller)) ?? 0) < MAX_STREAMS) return;
    throw new AppError("limit_reached", { limit: "open streams", max: MAX_STREAMS });
  }

  /** Counts one stream until it is released. */
  take(caller: Caller): () => void {
    const key = keyOf(caller);
    this.#open.set(key, (this.#open.get(key) ?? 0) + 1);
    return () => {
      const left = (this.#open.get(key) ?? 1) - 1;
      if (left === 0) this.#open.delete(key);
      else this.#open.set(key, left);
    };
  }
}

function keyOf({ actor, role }: Caller): string {
  return `${role}:${actor.kind}:${actor.id}`;
}
