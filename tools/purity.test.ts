import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./source-files.ts";
import { temporaryTree } from "./temporary-tree.ts";

const CONFIGS = Object.fromEntries(
  ["package.json", "tsconfig.base.json", "src/domain/tsconfig.json", ".oxlintrc.json"].map((path) => [
    path,
    readFileSync(join(ROOT, path), "utf8"),
  ]),
);

/** The lines of `path` at which a tool of this project finds fault. */
function faultyLines(tool: string, parameters: readonly string[], path: string, source: string): number[] {
  using tree = temporaryTree({ ...CONFIGS, [path]: source });
  const program = join(ROOT, "node_modules", ".bin", tool);
  const { stdout } = spawnSync(program, parameters, { cwd: tree.root, encoding: "utf8" });
  const lines = [...stdout.matchAll(/\.ts[:(](\d+)[,:]/g)].map((match) => Number(match[1]));
  return [...new Set(lines)].toSorted((a, b) => a - b);
}

test("[HSE-5] the compiler knows no Node and no DOM in the domain", () => {
  const source = [
    "export const fine = Math.max(1, 2);",
    "export const a = process.env;",
    "export const b = Buffer.from('');",
    "export const c = setTimeout(() => {}, 1);",
    "export const d = document.title;",
    "export const e = crypto.randomUUID();",
    "export const f = performance.now();",
    "export const g = fetch('/');",
    "export const h = console.log;",
    "import 'node:fs';",
  ].join("\n");

  expect(faultyLines("tsc", ["--project", "src/domain"], "src/domain/rule.ts", source)).toEqual([
    2, 3, 4, 5, 6, 7, 8, 9, 10,
  ]);
});

test("[HSE-5] the linter refuses the clock and chance in the domain", () => {
  const source = [
    "export const fine = Math.max(1, 2);",
    "export const a = Date.now();",
    "export const b = new Date();",
    "export const c = Math.random();",
  ].join("\n");

  expect(faultyLines("oxlint", ["--format=unix"], "src/domain/rule.ts", source)).toEqual([2, 3, 4]);
  expect(faultyLines("oxlint", ["--format=unix"], "src/hub/desk.ts", source)).toEqual([]);
});

test("[HSE-7] the linter refuses a file of more than 400 lines", () => {
  const lines = Array.from({ length: 400 }, (_, index) => `export const a${index} = ${index};\n`);

  expect(faultyLines("oxlint", ["--format=unix"], "src/hub/desk.ts", lines.join(""))).toEqual([]);
  expect(faultyLines("oxlint", ["--format=unix"], "src/hub/desk.ts", `${lines.join("")}// more\n`)).not.toEqual([]);
});
