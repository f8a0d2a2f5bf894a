/** A directory made of the given files, for tests of tools that read a whole tree; gone when disposed of. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export type TemporaryTree = Disposable & { readonly root: string };

export function temporaryTree(files: Readonly<Record<string, string>>): TemporaryTree {
  const root = mkdtempSync(join(tmpdir(), "sidestick-tree-"));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}
