/** Somebody without rights: whoever runs the tests, or where that is root, an account for as long as they run. */
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";

export type OrdinaryUser = {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly remove: () => void;
};

const isRoot = process.getuid!() === 0;

/** Whether such a user could run what is in this checkout. */
export function canBeOrdinary(): boolean {
  if (!isRoot) return true;
  const folders = process.execPath.split("/").map((_, index, names) => names.slice(0, index).join("/") || "/");
  return folders.every((folder) => (statSync(folder).mode & 0o001) !== 0);
}

export function ordinaryUser(): OrdinaryUser {
  const idOf = (what: string, ...name: string[]) => execFileSync("id", [what, ...name], { encoding: "utf8" }).trim();
  if (!isRoot) return { name: idOf("-un"), uid: process.getuid!(), gid: process.getgid!(), remove: () => undefined };
  const name = `guarded${process.pid}`;
  execFileSync("/usr/sbin/useradd", ["--no-create-home", "--shell", "/bin/bash", name]);
  const remove = () => void execFileSync("/usr/sbin/userdel", [name], { stdio: "ignore" });
  return { name, uid: Number(idOf("-u", name)), gid: Number(idOf("-g", name)), remove };
}
