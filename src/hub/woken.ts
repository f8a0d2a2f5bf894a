/** Resolves when somebody wakes those who wait, or when the signal is aborted. */
export function woken(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      waiting.delete(done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    waiting.add(done);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}
