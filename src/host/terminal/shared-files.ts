/**
 * Removes what lies in a directory that a session's programs can write to, though they change it meanwhile: never by a path
 * that leads through something of theirs, and never for as long as they please. Rule GRD-33 in docs/spec/guard.md.
 */
import { randomBytes } from "node:crypto";
import { renameSync, unlinkSync } from "node:fs";
import { runForHost } from "../orphans.ts";

/** By the system's `rm`, which goes by descriptors. Node goes by paths: a folder that becomes a link leads elsewhere. */
export async function removeDirectory(path: string): Promise<void> {
  // What stays goes when the host starts again.
  await runForHost("/bin/rm", ["-rf", "--", path]).catch(() => undefined);
}

/** A folder, however full, only gets another name: it goes with the directory. Nothing if nothing is there. */
export function putAway(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EISDIR" || code === "EPERM") renameSync(path, `${path}.${randomBytes(8).toString("hex")}`);
    else if (code !== "ENOENT") throw error;
  }
}
