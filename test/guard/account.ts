/** An ordinary user for a test file, made and removed with the system's tools. */
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { Account } from "./victim.ts";

/** Only root can make one, and it must be able to run what is in this checkout. */
export const canHaveAccounts = process.getuid?.() === 0 && othersMayEnter(dirname(process.execPath));

export class OrdinaryUser implements Disposable {
  readonly name = `ssv${process.pid}`;
  readonly account: Account;

  constructor() {
    execFileSync("/usr/sbin/useradd", ["--no-create-home", "--shell", "/bin/bash", this.name]);
    const [uid, gid] = ["-u", "-g"].map((what) => Number(execFileSync("id", [what, this.name], { encoding: "utf8" })));
    this.account = { uid: uid!, gid: gid! };
  }

  [Symbol.dispose](): void {
    execFileSync("/usr/sbin/userdel", [this.name], { stdio: "ignore" });
  }
}

function othersMayEnter(path: string): boolean {
  const parents = path.split("/").map((_, index, names) => names.slice(0, index + 1).join("/") || "/");
  return parents.every((folder) => (statSync(folder).mode & 0o001) !== 0);
}
