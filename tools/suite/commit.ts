/** Which state of a checkout something was run with. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Git sets some for its hooks and for `rebase --exec`, where they name another repository than the one asked for; others
 * change what a difference looks like.
 */
const OF_GIT = /^GIT_(?!CEILING_DIRECTORIES$)/;

/** A difference to the commit is printed whole. */
const MOST_BYTES = 1024 ** 3;

/** The commit and, where the tree differs from it, a digest of the difference; undefined where git tells neither. */
export function commitOf(root: string): string | undefined {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_GIT.test(name)));
  const git = (...words: string[]): Buffer | undefined => {
    const { status, stdout } = spawnSync("git", words, { cwd: root, env, maxBuffer: MOST_BYTES });
    return status === 0 ? stdout : undefined;
  };
  const commit = git("rev-parse", "--short=10", "HEAD");
  const changed = git("diff", "--no-ext-diff", "--no-textconv", "--binary", "HEAD");
  const others = git("ls-files", "--others", "--exclude-standard", "-z");
  if (commit === undefined || changed === undefined || others === undefined) return undefined;
  const name = commit.toString().trim();
  if (changed.length + others.length === 0) return name;
  const hash = createHash("sha256").update(changed);
  for (const path of others.toString().split("\0")) hash.update(`\0${path}\0`).update(contentOf(join(root, path)));
  return `${name}, changed (${hash.digest("hex").slice(0, 10)})`;
}

/** Nothing for what can't be read as a file. */
function contentOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
