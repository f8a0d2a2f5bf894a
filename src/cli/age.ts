/** How long ago, or how long until, in as few characters as a table has room for. */
const UNITS = [
  { unit: "d", seconds: 86_400 },
  { unit: "h", seconds: 3600 },
  { unit: "m", seconds: 60 },
] as const;

export function ageOf(timestamp: string, nowMs: number = Date.now()): string {
  return shortTime(nowMs - Date.parse(timestamp));
}

export function timeUntil(timestamp: string, nowMs: number = Date.now()): string {
  return shortTime(Date.parse(timestamp) - nowMs);
}

function shortTime(durationMs: number): string {
  const seconds = Math.max(0, Math.floor(durationMs / 1000));
  const fitting = UNITS.find((it) => seconds >= it.seconds);
  return fitting === undefined ? `${seconds}s` : `${Math.floor(seconds / fitting.seconds)}${fitting.unit}`;
}
