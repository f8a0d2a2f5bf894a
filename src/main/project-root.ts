/** Where an agent may write and delete when its workspace doesn't say: POL-5 in docs/spec/policy.md. */
import { lstat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isWithin } from "../domain/policy/paths.ts";
import { mayBeProject } from "../domain/policy/project-place.ts";

/** The nearest directory with a `.git` below the home, else the directory itself, where such a place may be a project. */
export async function projectAround(cwd: string, home: string): Promise<readonly string[]> {
  for (let at = cwd; !isWithin(home, at); at = dirname(at)) {
    if (await exists(join(at, ".git"))) return mayBeProject(at, home) ? [at] : [];
  }
  return mayBeProject(cwd, home) ? [cwd] : [];
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
