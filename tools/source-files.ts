/** Finding the files that the tools read, and where in them something stands. */
import { globSync, readdirSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = dirname(import.meta.dirname);

/** Paths relative to `root`, with `/`, in a fixed order. */
export function filesIn(root: string, ...patterns: readonly string[]): string[] {
  return globSync([...patterns], { cwd: root, exclude: ["**/node_modules/**"] })
    .map((path) => path.replaceAll("\\", "/"))
    .toSorted();
}

export function isTestFile(path: string): boolean {
  return /\.(?:test|contract)\.tsx?$/.test(path);
}

/** What vitest includes, and what looks like a test. */
const TESTS = /^(?:src|test|tools)\/(?:(?!\.)[^/]+\/)*(?!\.)[^/]+\.test\.ts$/;
const TEST_LIKE = /(?:^|\/)__tests__\/|\.(?:tests?|spec)\.[cm]?[jt]sx?$/;

/** Files that look like tests and that no run includes. `dist` is built; other work trees lie in folders with a dot. */
export function strayTests(root: string): string[] {
  const inside = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((it) => {
      const path = folder === "" ? it.name : `${folder}/${it.name}`;
      if (!it.isDirectory()) return [path];
      const isForeign = folder === "" && (it.name.startsWith(".") || it.name === "dist");
      return isForeign || it.name === "node_modules" ? [] : inside(path);
    });
  return inside("")
    .filter((path) => TEST_LIKE.test(path) && !TESTS.test(path))
    .toSorted();
}

/** The test files whose path contains one of the filters; all of them if there is no filter. */
export function testFiles(filters: readonly string[] = [], endings = "test.ts"): string[] {
  const files = filesIn(ROOT, `{src,test,tools}/**/*.${endings}`);
  return filters.length === 0 ? files : files.filter((path) => filters.some((it) => matches(path, it)));
}

/** For vitest, which matches filters in a way of its own; nothing stands for all files. */
export function chosenPaths(filters: readonly string[], root = ROOT): string[] {
  return filters.length === 0 ? [] : testFiles(filters).map((path) => join(root, path));
}

/** The filters that no test file matches: each is a mistake. */
export function unmatched(filters: readonly string[]): string[] {
  const files = testFiles();
  return filters.filter((it) => !files.some((path) => matches(path, it)));
}

function matches(path: string, filter: string): boolean {
  const part = filter.replace(/^\.\//, "");
  // An empty filter would match every file, and a run with filters leaves out the checks.
  if (part === "") return false;
  // The place of the checkout is no choice of files.
  return isAbsolute(part) ? join(ROOT, path).includes(part) : path.includes(part);
}

export function lineAt(source: string, offset: number): number {
  return source.slice(0, offset).split("\n").length;
}

/** Whether the module is the program that was started, not something imported. */
export function isMain(url: string): boolean {
  return process.argv[1] !== undefined && fileURLToPath(url) === realpathSync(process.argv[1]);
}

/** How every tool ends: one offence a line, exit code 1 if there is any. */
export function report(what: string, offences: readonly string[]): void {
  for (const offence of offences) console.log(offence);
  if (offences.length > 0) console.log(`${what}: ${offences.length} to mend`);
  process.exitCode = offences.length > 0 ? 1 : 0;
}
