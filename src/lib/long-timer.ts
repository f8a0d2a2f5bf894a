/**
 * A timer for any distance. `setTimeout` beyond 2³¹−1 ms fires after one millisecond, which would end a month's lease
 * at once.
 */
const LONGEST_MS = 2 ** 31 - 1;

export function startTimer(delayMs: number, fire: () => void): Disposable {
  let left = Math.max(0, delayMs);
  let timer: NodeJS.Timeout;
  const next = (): void => {
    const step = Math.min(left, LONGEST_MS);
    left -= step;
    timer = setTimeout(() => (left > 0 ? next() : fire()), step);
    timer.unref();
  };
  next();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
