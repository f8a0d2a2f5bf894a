import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";

/** At its first start in a home, fish reads every manual page of the machine: twenty seconds of a processor. */
export async function spareFish(home: string): Promise<void> {
  await mkdir(join(home, COMPLETIONS), { recursive: true });
}

const COMPLETIONS = ".local/share/fish/generated_completions";

/** Programs leave their histories at home. Disposed by whoever started them, when they have ended. */
export function throwawayHome(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "sidestick-"));
  mkdirSync(join(path, COMPLETIONS), { recursive: true });
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 10 }) };
}

/** The environment of somebody who has just got an account on this machine. */
export async function emptyHome(directory: string): Promise<Readonly<Record<string, string>>> {
  const HOME = join(directory, "home");
  await spareFish(HOME);
  return environmentIn(HOME, userInfo().username);
}

export function environmentIn(HOME: string, username: string): Readonly<Record<string, string>> {
  return {
    HOME,
    USER: username,
    LOGNAME: username,
    SHELL: "/bin/bash",
    LANG: "C.UTF-8",
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  };
}
