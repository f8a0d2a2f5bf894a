/**
 * The cache of compiled code for what tests start with an environment of its own. Without it a process loads the
 * compiler that strips types, and strips them, at each start: half of a hub's and of a command's processor time.
 */
import { chownSync, existsSync, mkdirSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";

type Account = { readonly uid: number; readonly gid: number };

/** Node keeps a directory for each account; only root can make another's. */
export function compileCache(account?: Account): Record<string, string> {
  const own = getCompileCacheDir();
  if (own === undefined) return {};
  if (account !== undefined && account.uid !== process.getuid?.()) giveOne(own, account);
  return { NODE_COMPILE_CACHE: dirname(own) };
}

function giveOne(own: string, { uid, gid }: Account): void {
  const theirs = own.replace(/-\d+$/, `-${uid}`);
  if (!existsSync(theirs)) mkdirSync(theirs, { recursive: true, mode: 0o700 });
  chownSync(theirs, uid, gid);
}

/** Before a program's name: for one that is started without variables. */
export function withCompileCache(): readonly string[] {
  const own = getCompileCacheDir();
  if (own === undefined) return [];
  const script = `import { enableCompileCache } from "node:module"; enableCompileCache(${JSON.stringify(dirname(own))});`;
  return ["--import", `data:text/javascript,${encodeURIComponent(script)}`];
}
