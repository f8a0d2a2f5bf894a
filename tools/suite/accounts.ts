/**
 * Accounts that tests make. Each name is written down in the directory of the run before the account is made, so that
 * the end of the run removes an account whose test was killed. Rule HSE-26 in docs/spec/house.md.
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** One name a line, in the directory of the run. */
export const ACCOUNTS_FILE = "accounts";

export function rememberAccount(name: string): void {
  appendFileSync(join(tmpdir(), ACCOUNTS_FILE), `${name}\n`);
}

/** Removes the account, its home and its rights to use sudo. */
export function forgetAccount(name: string): void {
  rmSync(join("/etc/sudoers.d", name), { force: true });
  spawnSync("/usr/sbin/userdel", ["--force", "--remove", name], { stdio: "ignore" });
}

/** The accounts of a run that are still there. */
export function leftAccounts(directory: string): string[] {
  const existing = new Set(linesOf("/etc/passwd").map((line) => line.split(":")[0]));
  return linesOf(join(directory, ACCOUNTS_FILE)).filter((name) => existing.has(name));
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, "utf8").trimEnd().split("\n");
  } catch {
    return [];
  }
}
