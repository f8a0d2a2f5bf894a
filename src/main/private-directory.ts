/** Makes a directory and what is missing above it, for its owner alone. */
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** Level by level: Node's recursive mkdir never returns below `/proc`. */
export async function makePrivateDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return;
    if (code !== "ENOENT" || (await exists(dirname(path)))) throw error;
    await makePrivateDirectory(dirname(path));
    await mkdir(path, { mode: 0o700 });
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
