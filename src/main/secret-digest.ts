/**
 * Recognises a secret without keeping it: a hash under a key of this hub, for a plain hash of a short password is found
 * by trying. The key stays with the data, so that a repeat after a restart is recognised too (HTP-9).
 */
import { createHmac, randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

const KEY_BYTES = 32;

export async function openSecretDigest(dataDir: string): Promise<(text: string) => string> {
  const path = join(dataDir, "digest.key");
  const key = (await readKey(path)) ?? (await makeKey(path));
  return (text) => createHmac("sha256", key).update(text).digest("hex");
}

async function readKey(path: string): Promise<Buffer | undefined> {
  try {
    const key = await readFile(path);
    return key.length === KEY_BYTES ? key : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function makeKey(path: string): Promise<Buffer> {
  const key = randomBytes(KEY_BYTES);
  await writeFile(`${path}.new`, key, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return key;
}
