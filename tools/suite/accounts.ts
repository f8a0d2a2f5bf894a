/**
 * Accounts that tests make. Each name is written down in the directory of the run before the account is made, so that
 * the end of the run removes an account whose test was killed. Rule HSE-26 in docs/spec/house.md.
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, closeSync, constants, fstatSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** One name a line, in the directory of the run. */
export const ACCOUNTS_FILE = "accounts";
/** As `test/support/account.ts` makes them. */
const OF_TESTS = /^sidestick\d+t\d+$/;

export function rememberAccount(name: string): void {
  appendFileSync(join(tmpdir(), ACCOUNTS_FILE), `${name}\n`);
}

/** Removes the account, its home and its rights to use sudo. */
export function forgetAccount(name: string): void {
  rmSync(join("/etc/sudoers.d", name), { force: true });
  spawnSync("/usr/sbin/userdel", ["--force", "--remove", name], { stdio: "ignore" });
}

/**
 * The accounts of a run that are still there. Every account of the machine may write into the directory of a run, so
 * neither a file of somebody else's nor a name that no test makes is believed.
 */
export function leftAccounts(directory: string): string[] {
  const written = linesOf(readOwn(join(directory, ACCOUNTS_FILE))).filter((name) => OF_TESTS.test(name));
  if (written.length === 0) return [];
  const existing = new Set(linesOf(readFileSync("/etc/passwd", "utf8")).map((line) => line.split(":")[0]));
  return written.filter((name) => existing.has(name));
}

/** Empty for a file that isn't there, is a link, or belongs to another account. */
export function readOwn(path: string): string {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      return fstatSync(file).uid === process.getuid?.() ? readFileSync(file, "utf8") : "";
    } finally {
      closeSync(file);
    }
  } catch {
    return "";
  }
}

function linesOf(text: string): string[] {
  return text.trimEnd().split("\n");
}
