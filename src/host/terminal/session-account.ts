/** The account that a session of containment `user` runs as. Rule GRD-5 in docs/spec/guard.md. */
import { execFile } from "node:child_process";
import { chown, lchown, mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { AppError } from "../../protocol/errors.ts";
import type { Account } from "./login-environment.ts";

export type SessionAccount = Account & { readonly gid: number; readonly groups: readonly number[] };

/** As the system knows it, wherever it keeps its accounts. */
export async function accountOf(name: string | undefined): Promise<SessionAccount> {
  if (process.getuid?.() !== 0) throw refused("Only a host that runs as root can run sessions as another user");
  if (name === undefined || !/^[\w.][\w.-]*\$?$/.test(name)) throw refused("user should be the name of an account");
  const [entry, groups] = await Promise.all([
    output("getent", ["passwd", name]),
    output("id", ["-G", "--", name]),
  ]).catch(() => [undefined, undefined]);
  const [, , uid, gid, , homedir, shell] = entry?.trim().split(":") ?? [];
  if (homedir === undefined || groups === undefined) throw refused(`There is no account ${name} on this host`);
  return {
    username: name,
    homedir,
    shell: shell ?? null,
    uid: Number(uid),
    gid: Number(gid),
    groups: groups.trim().split(" ").map(Number),
  };
}

/** A directory for its shells: ours are closed to others. */
export async function directoryFor({ uid, gid }: SessionAccount): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "sidestick-user-"));
  await chown(directory, uid, gid);
  return directory;
}

/** With all that is in it. */
export async function giveTo({ uid, gid }: SessionAccount, directory: string): Promise<void> {
  const entries = await readdir(directory, { recursive: true });
  await Promise.all([directory, ...entries.map((it) => join(directory, it))].map((path) => lchown(path, uid, gid)));
}

const run = promisify(execFile);

async function output(program: string, args: readonly string[]): Promise<string> {
  return (await run(program, [...args])).stdout;
}

function refused(detail: string): AppError {
  return new AppError("invalid_request", { detail });
}
