/** Of an agent that had control without a lease. */
const USUAL_SECONDS = 300;
const LEAST_SECONDS = 30;
/** The hub refuses more. */
const MOST_SECONDS = 3600;

/** For how long an agent gets back what it lost. A clock that was set meanwhile, here or there, says anything of what was left. */
export function leaseBack(endsAt: number | undefined, now: number): number {
  const leftSeconds = Math.round(((endsAt ?? Number.NaN) - now) / 1000);
  if (Number.isNaN(leftSeconds)) return USUAL_SECONDS;
  return Math.min(MOST_SECONDS, Math.max(LEAST_SECONDS, leftSeconds));
}
