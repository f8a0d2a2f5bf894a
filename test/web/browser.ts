/**
 * One browser for all files of a worker, which share its process. It ends with the worker: files can't tell which of
 * them is the last.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { programPath } from "../../tools/suite/needs.ts";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

let launched: Promise<Browser> | undefined;

export function workersBrowser(): Promise<Browser> {
  return (launched ??= launch());
}

async function launch(): Promise<Browser> {
  // Its profile is elsewhere, and goes with it; here it leaves nothing of a test.
  const home = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "browser");
  await mkdir(home, { recursive: true });
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home };
  // Vitest ends a worker by this signal. Playwright kills the browser and removes its profile when a process exits; at the
  // signal itself it would begin to close the browser, and the worker would be killed meanwhile.
  process.once("SIGTERM", () => process.exit());
  return chromium.launch({
    executablePath: programPath("chromium"),
    args: FLAGS,
    env,
    handleSIGTERM: false,
  });
}

type Retried = (progress: unknown, timeouts: readonly number[], action: unknown) => Promise<unknown>;
type Looking = {
  retryWithProgressAndBackoff: (progress: unknown, action: unknown) => Promise<unknown>;
  retryWithProgressAndTimeouts: Retried;
};
type Inside = { readonly _connection: { readonly toImpl: (it: unknown) => { readonly mainFrame: () => Looking } } };

/**
 * Playwright looks whether an element is there after 20, 50, 100 and 100 ms, and then every half second: more than half of
 * what these tests took was waiting for the next look. There is no setting for it.
 */
export function lookOften(page: Page): void {
  const frame = (page as unknown as Inside)._connection.toImpl(page).mainFrame();
  const looking = Object.getPrototypeOf(frame) as Looking;
  looking.retryWithProgressAndBackoff = function (this: Looking, progress, action) {
    return this.retryWithProgressAndTimeouts(progress, [20, 30, 40], action);
  };
}
