/** The account that a session of containment `user` runs as. Rule GRD-5 in docs/spec/guard.md. */
import { chmod, lchown, mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../../protocol/errors.ts";
import { runForHost } from "../orphans.ts";
import type { Account } from "./login-environment.ts";

export type SessionAccount = Account & { readonly gid: number; readonly groups: readonly number[] };

/** As the system knows it, wherever it keeps its accounts. */
export async function accountOf(name: string | undefined): Promise<SessionAccount> {
  if (process.getuid?.() !== 0) throw refused("Only a host that runs as root can run sessions as another user");
  if (name === undefined || !/^[\w.][\w.-]*\$?$/.test(name)) throw refused("user should be the name of an account");
  const [entry, groups] = await Promise.all([
    runForHost("getent", ["passwd", name]),
    runForHost("id", ["-G", "--", name]),
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

/**
 * A directory for the shells of another account, who can pass through it: ours are closed to others. It stays ours, else
 * that account could put a link where root writes next.
 */
export async function passableDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "sidestick-user-"));
  await chmod(directory, 0o711);
  return directory;
}

/** With all that is in it, and itself last: until then nobody else can put anything there. */
export async function giveTo({ uid, gid }: SessionAccount, directory: string): Promise<void> {
  const entries = await readdir(directory, { recursive: true });
  await Promise.all(entries.map((it) => lchown(join(directory, it), uid, gid)));
  await lchown(directory, uid, gid);
}

/** What is in it they can read and not change. */
export async function lendTo({ gid }: SessionAccount, directory: string): Promise<void> {
  await lchown(directory, 0, gid);
  await chmod(directory, 0o710);
}

function refused(detail: string): AppError {
  return new AppError("invalid_request", { detail });
}
