/**
 * Where a path leads for a session's programs: followed name by name below the root that they see, so that an absolute
 * link stays inside it, and every name on the way is known: whoever changes one of them changes where it leads. Rule
 * APR-11 in docs/spec/approvals.md.
 */
import type { BigIntStats } from "node:fs";
import { lstat, readlink } from "node:fs/promises";

/** One name that was passed. */
export type Step = {
  /** The directory that has it, without links. */
  readonly directory: string;
  readonly name: string;
  readonly kind: "directory" | "link" | "other";
  /** Device and inode; of a link also when it was made or moved. */
  readonly identity: string;
};

export type Walked = {
  /** As it was asked for. */
  readonly asked: string;
  /** Without links, as seen inside. */
  readonly path: string;
  readonly steps: readonly Step[];
  readonly status: BigIntStats;
};

/** `root` is the directory that is `/` for the session. Undefined: nothing is there, or it may not be looked at. */
export async function walk(root: string, path: string): Promise<Walked | undefined> {
  try {
    return await follow(root, path);
  } catch {
    return undefined;
  }
}

/** As far as a kernel follows. */
const LINKS_MAX = 40;

async function follow(root: string, path: string): Promise<Walked> {
  const steps: Step[] = [];
  let names = namesOf(path);
  let at: readonly string[] = [];
  let status = await lstat(`${root}/`, { bigint: true });
  for (let links = 0; names.length > 0;) {
    const [name = "", ...rest] = names;
    names = rest;
    if (name === "..") {
      at = at.slice(0, -1);
      status = await lstat(`${root}/${at.join("/")}`, { bigint: true });
      continue;
    }
    status = await lstat(`${root}/${[...at, name].join("/")}`, { bigint: true });
    steps.push(stepOf(`/${at.join("/")}`, name, status));
    if (!status.isSymbolicLink()) at = [...at, name];
    else if ((links += 1) > LINKS_MAX) throw new Error("Too many links");
    else {
      const target = await readlink(`${root}/${[...at, name].join("/")}`);
      if (target.startsWith("/")) at = [];
      names = [...namesOf(target), ...names];
    }
  }
  return { asked: path, path: `/${at.join("/")}`, steps, status };
}

function namesOf(path: string): string[] {
  return path.split("/").filter((it) => it !== "" && it !== ".");
}

function stepOf(directory: string, name: string, status: BigIntStats): Step {
  const kind = kindOf(status);
  const { dev, ino, ctimeNs } = status;
  return { directory, name, kind, identity: `${dev}:${ino}${kind === "link" ? `:${ctimeNs}` : ""}` };
}

function kindOf(status: BigIntStats): Step["kind"] {
  if (status.isDirectory()) return "directory";
  return status.isSymbolicLink() ? "link" : "other";
}
