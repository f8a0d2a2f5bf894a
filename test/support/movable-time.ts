/** The machine's time, which a test can move on: for silence that would have to be waited for. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { QuietTime } from "../../src/host/terminal/quiet-clock.ts";

type Waiting = { readonly at: number; readonly due: () => void; timer?: NodeJS.Timeout };

export class MovableTime implements QuietTime {
  readonly #waiting = new Set<Waiting>();
  #movedMs = 0;

  readonly now = (): number => performance.now() + this.#movedMs;

  readonly after = (ms: number, due: () => void): Disposable => {
    const waiting: Waiting = { at: this.now() + ms, due };
    this.#waiting.add(waiting);
    this.#arm(waiting);
    return { [Symbol.dispose]: () => this.#forget(waiting) };
  };

  move(ms: number): void {
    this.#movedMs += ms;
    for (const waiting of this.#waiting) this.#arm(waiting);
  }

  #arm(waiting: Waiting): void {
    clearTimeout(waiting.timer);
    const fire = (): void => {
      this.#forget(waiting);
      waiting.due();
    };
    waiting.timer = setTimeout(fire, Math.max(0, Math.ceil(waiting.at - this.now()))).unref();
  }

  #forget(waiting: Waiting): void {
    clearTimeout(waiting.timer);
    this.#waiting.delete(waiting);
  }
}

/** More than the longest silence that a host tells of. */
const MINUTES_MS = 2 * 60_000;

/** In a host program of test/composition. */
export function timeMovedBySignal(): QuietTime {
  const time = new MovableTime();
  process.on("SIGUSR2", () => time.move(MINUTES_MS));
  return time;
}

/** Minutes of silence go by in the terminals of a hub's host. What prints must have fallen silent before. */
export function passSilence({ dataDir }: { readonly dataDir: string }): void {
  process.kill(Number(readFileSync(join(dataDir, "host", "lock"), "utf8")), "SIGUSR2");
}
