/** Tests that repeat something run a tenth of it in `npm test`, and the whole in `npm run test:soak`. */
export const IS_SOAK = process.env["SIDESTICK_SOAK"] === "1";

/** The whole count in a soak, and a tenth otherwise. */
export function soakCount(whole: number): number {
  return IS_SOAK ? whole : Math.ceil(whole / 10);
}
