/** A small project of its own that the real vitest can run, for tests of the runner. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../source-files.ts";
import { temporaryTree, type TemporaryTree } from "../temporary-tree.ts";

const RUNNER = join(import.meta.dirname, "runner.ts");

/** Source of a function for a test: it kills vitest as soon as another file has ended. */
export const KILL_VITEST = `import { readFileSync } from "node:fs";
const hasEnded = () => readFileSync(process.env.SIDESTICK_RUN_PROGRESS, "utf8").includes('{"ended":');
const kill = async () => {
  while (!hasEnded()) await new Promise((it) => setTimeout(it, 10));
  process.kill(process.ppid, "SIGKILL");
};`;

export function vitestProject(files: Readonly<Record<string, string>>): TemporaryTree {
  const tree = temporaryTree({
    "vitest.config.ts": `export default { test: { pool: "forks", isolate: false, maxWorkers: 2, experimental: { viteModuleRunner: false }, runner: ${JSON.stringify(RUNNER)} } };\n`,
    "package.json": `{ "type": "module" }`,
    ...files,
  });
  mkdirSync(join(tree.root, "node_modules"));
  symlinkSync(join(ROOT, "node_modules", "vitest"), join(tree.root, "node_modules", "vitest"));
  return tree;
}
