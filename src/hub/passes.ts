/**
 * Single-use passes that live only in memory: login codes (ten minutes, in a link's fragment), WebSocket tickets (30 seconds)
 * and links to supply a secret (as long as its question is offered). Each opens one door once; a restart ends them all (SEC-10).
 */
import { AppError } from "../protocol/errors.ts";
import type { Clock } from "./ports.ts";

/** Who is logged in by a link. */
export type LoginPass = { readonly name: string; readonly role: "operator" | "viewer" };

/** For each holder: one that asks without end must not leave the others without. */
const MAX_OPEN = 100;

export class Passes<T> {
  readonly #clock: Clock;
  readonly #lifetimeMs: number;
  readonly #newSecret: () => string;
  readonly #open = new Map<string, { readonly holder: string; readonly value: T; readonly expiresAt: number }>();

  constructor(clock: Clock, lifetimeMs: number, newSecret: () => string) {
    this.#clock = clock;
    this.#lifetimeMs = lifetimeMs;
    this.#newSecret = newSecret;
  }

  issue(
    holder: string,
    value: T,
    expiresAt = this.#clock.now() + this.#lifetimeMs,
  ): { readonly secret: string; readonly expiresAt: string } {
    this.#sweep();
    const held = [...this.#open.values()].filter((it) => it.holder === holder).length;
    if (held >= MAX_OPEN) throw new AppError("limit_reached", { limit: "open passes", max: MAX_OPEN });
    const secret = this.#newSecret();
    this.#open.set(secret, { holder, value, expiresAt });
    return { secret, expiresAt: new Date(expiresAt).toISOString() };
  }

  /** Looks without using it up. */
  find(secret: string): T | undefined {
    const pass = this.#open.get(secret);
    return pass !== undefined && pass.expiresAt > this.#clock.now() ? pass.value : undefined;
  }

  redeem(secret: string): T | undefined {
    const value = this.find(secret);
    this.#open.delete(secret);
    return value;
  }

  #sweep(): void {
    const now = this.#clock.now();
    for (const [secret, pass] of this.#open) if (pass.expiresAt <= now) this.#open.delete(secret);
  }
}
