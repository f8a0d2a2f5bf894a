/** An account of this machine for as long as a test needs it. Only root can make one. */
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { forgetAccount, rememberAccount } from "../../tools/suite/accounts.ts";
import { isMissing } from "../../tools/suite/needs.ts";

export const IS_ROOT = process.getuid?.() === 0;

/** The account must be able to run what is in this checkout, and to reach the files of its test. */
export const canHaveAccounts =
  IS_ROOT && !isMissing("useradd") && [dirname(process.execPath), tmpdir()].every(othersMayEnter);

let made = 0;

export class TemporaryAccount implements Disposable {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;

  constructor(settings: { readonly hasHome?: boolean } = {}) {
    this.name = `sidestick${process.pid}t${(made += 1)}`;
    // Whoever ends the run removes it, should this process be killed.
    rememberAccount(this.name);
    const home = settings.hasHome === true ? "--create-home" : "--no-create-home";
    execFileSync("/usr/sbin/useradd", [home, "--shell", "/bin/bash", this.name], { stdio: "ignore" });
    const idOf = (what: string): number => Number(execFileSync("id", [what, this.name], { encoding: "utf8" }));
    this.uid = idOf("-u");
    this.gid = idOf("-g");
  }

  [Symbol.dispose](): void {
    forgetAccount(this.name);
  }
}

export function othersMayEnter(path: string): boolean {
  const parents = path.split("/").map((_, index, names) => names.slice(0, index + 1).join("/") || "/");
  return parents.every((folder) => (statSync(folder).mode & 0o001) !== 0);
}
