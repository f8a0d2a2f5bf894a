/**
 * Codes by which somebody gets onto a channel's list: one person each, for ten minutes, and none is left when somebody guesses.
 * Rules CHN-104..CHN-106.
 */
import { randomInt } from "node:crypto";
import { Passes } from "../passes.ts";
import type { Clock } from "../ports.ts";

export type PairingCode = { readonly code: string; readonly expiresAt: string };

export const PAIRING_MS = 600_000;
const WRONG_MAX = 10;
const WRONG_WITHIN_MS = 3_600_000;
/** Without what is taken for something else when it is read aloud or copied by hand. */
const LETTERS = "ABCDEFGHJKMNPQRSTVWXYZ23456789";
const LENGTH = 8;

/** The code that a message offers; undefined: it is no such message. */
export function offeredCode(text: string): string | undefined {
  const [, code] = /^\s*(?:[/!]start(?:@\w+)?|pair)\s+([\w-]{1,64})\s*$/iu.exec(text) ?? [];
  return code?.toUpperCase().replaceAll("-", "");
}

export class Pairing {
  readonly #clock: Clock;
  #open = new Map<string, Passes<true>>();
  #wrongAt: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  invite(channel: string): PairingCode {
    const passes = this.#open.get(channel) ?? new Passes<true>(this.#clock, PAIRING_MS, newCode);
    this.#open.set(channel, passes);
    const { secret, expiresAt } = passes.issue(channel, true);
    return { code: `${secret.slice(0, 4)}-${secret.slice(4)}`, expiresAt };
  }

  redeem(channel: string, code: string): boolean {
    if (this.#open.get(channel)?.redeem(code) === true) return true;
    const now = this.#clock.now();
    // More than the last few say nothing more: whoever guesses for an hour must not fill our memory.
    this.#wrongAt = [...this.#wrongAt.filter((at) => now - at < WRONG_WITHIN_MS), now].slice(-WRONG_MAX);
    if (this.#wrongAt.length >= WRONG_MAX) this.#open = new Map();
    return false;
  }

  end(channel: string): void {
    this.#open.delete(channel);
  }
}

function newCode(): string {
  return Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join("");
}
