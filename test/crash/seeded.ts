import { soakCount } from "../support/soak.ts";

/** Numbers that look random and are the same for the same seed. */
export const SEED = Number(process.env["SIDESTICK_SEED"] ?? Date.now() % 2 ** 31);

/** Other ones each time. */
export const KILLS = soakCount(250);

export type Random = (below: number) => number;

/** mulberry32 */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
