/** What `bin/sidestick` loads: the built program while it is of the sources as they are, else the sources. */
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type * as Program from "../bin/program.mjs";
import { ROOT } from "./source-files.ts";
import { temporaryTree, type TemporaryTree } from "./temporary-tree.ts";

const run = promisify(execFile);
const LONG_AGO = new Date("2001-01-01T00:00:00Z");

/** Says which of the two it is, and where it takes itself to be. */
const MAIN = `import { text } from "./text.ts";
const isBuilt: boolean = new Error().stack?.includes("/dist/program/") ?? false;
console.log(JSON.stringify([isBuilt, text, new URL("beside", import.meta.url).pathname, import.meta.dirname]));
`;

function checkout(): TemporaryTree {
  const tree = temporaryTree({
    "src/cli/main.ts": MAIN,
    "src/cli/text.ts": 'export const text: string = "one";\n',
    "src/cli/text.test.ts": "",
    ...Object.fromEntries(["up", "host", "host-join", "terminals"].map((name) => [`src/main/${name}.ts`, ""])),
    "src/protocol/errors.ts": "",
    "src/web/page.ts": "",
    "package.json": JSON.stringify({ name: "sidestick", type: "module" }),
    "package-lock.json": "{}",
    "bin/none": "",
  });
  for (const name of ["bin/main.mjs", "bin/program.mjs", "vite.program.config.ts"])
    copyFileSync(join(ROOT, name), join(tree.root, name));
  mkdirSync(join(tree.root, "node_modules"));
  symlinkSync(join(ROOT, "node_modules/vite"), join(tree.root, "node_modules/vite"));
  return tree;
}

/** As `bin/bootstrap.mjs` does. */
async function build(root: string): Promise<void> {
  const { builtProgram } = (await import(join(root, "bin/program.mjs"))) as typeof Program;
  const vite = [join(ROOT, "node_modules/vite/bin/vite.js"), "build", "--logLevel", "error"];
  const config = ["--config", join(root, "vite.program.config.ts"), "--outDir", builtProgram()];
  await run(process.execPath, [...vite, ...config], { cwd: root });
}

async function says(root: string): Promise<readonly unknown[]> {
  const { stdout } = await run(process.execPath, [join(root, "bin/main.mjs")]);
  return JSON.parse(stdout) as unknown[];
}

test("[HSE-19] the built program is run, and is where its sources are", async () => {
  using tree = checkout();
  const here = join(tree.root, "src/cli");

  const before = await says(tree.root);
  await build(tree.root);

  expect(before).toEqual([false, "one", join(here, "beside"), here]);
  expect(await says(tree.root)).toEqual([true, "one", join(here, "beside"), expect.stringMatching(/\/src\/cli$/)]);
});

test("[HSE-19] whatever source is another, they are run themselves; tests and the page are none", async () => {
  using tree = checkout();
  const at = (path: string): string => join(tree.root, path);
  await build(tree.root);
  const isBuilt = async (): Promise<unknown> => (await says(tree.root))[0];
  const outcome: unknown[] = [await isBuilt()];

  for (const path of ["src/cli/text.test.ts", "src/web/page.ts"]) writeFileSync(at(path), "// another");
  outcome.push(await isBuilt());
  writeFileSync(at("src/cli/text.ts"), 'export const text: string = "two";\n');
  outcome.push(await says(tree.root));
  await build(tree.root);
  outcome.push((await says(tree.root)).slice(0, 2));
  utimesSync(at("src/cli/text.ts"), LONG_AGO, LONG_AGO);
  outcome.push(await isBuilt());
  await build(tree.root);
  writeFileSync(at("src/added.ts"), "");
  outcome.push(await isBuilt());
  renameSync(at("src/added.ts"), at("src/cli/added.ts"));
  rmSync(at("src/cli/added.ts"));
  outcome.push(await isBuilt());
  rmSync(at("package-lock.json"));
  outcome.push(await isBuilt());

  const two = [false, "two", at("src/cli/beside"), at("src/cli")];
  expect(outcome).toEqual([true, true, two, [true, "two"], false, false, true, false]);
});
