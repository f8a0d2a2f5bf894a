import { execFile, spawnSync } from "node:child_process";
import {
  copyFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { filesIn, ROOT } from "./source-files.ts";
import { temporaryTree } from "./temporary-tree.ts";
import type { TemporaryTree } from "./temporary-tree.ts";

const run = promisify(execFile);
const MANIFEST = { name: "sidestick", version: "0.0.0" };

/** A checkout without dependencies, with the real Node 24 as if npm had installed it. */
function checkout(): TemporaryTree {
  const tree = temporaryTree({
    "src/cli/main.ts": "const where: string = process.version;\nconsole.log(where, ...process.argv.slice(2));\n",
    "package.json": JSON.stringify(MANIFEST),
    "package-lock.json": JSON.stringify({
      ...MANIFEST,
      lockfileVersion: 3,
      requires: true,
      packages: { "": MANIFEST },
    }),
  });
  mkdirSync(join(tree.root, "bin"));
  for (const name of ["bin/sidestick", "bin/main.mjs", "bin/program.mjs", "bin/bootstrap.mjs"])
    copyFileSync(join(ROOT, name), join(tree.root, name));
  chmodSync(join(tree.root, "bin/sidestick"), 0o755);
  mkdirSync(join(tree.root, "node_modules", ".bin"), { recursive: true });
  symlinkSync(join(ROOT, "node_modules/.bin/node"), join(tree.root, "node_modules/.bin/node"));
  return tree;
}

function bootstrap({ root }: TemporaryTree, ...words: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  // npm writes into its home.
  return run(process.execPath, [join(root, "bin/bootstrap.mjs"), ...words], { env: { ...process.env, HOME: root } });
}

/** As an account that has no right to write what isn't open to it. */
function bootstrapAsOther({ root }: TemporaryTree): Promise<{ stdout: string; stderr: string }> {
  const words = [process.execPath, join(root, "bin/bootstrap.mjs"), "--test"];
  const isRoot = process.getuid?.() === 0;
  const [file = "", ...rest] = isRoot
    ? ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", ...words]
    : words;
  return run(file, rest);
}

function write({ root }: TemporaryTree, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}

test("[HSE-14] the command runs Node 24 from anywhere, through links, with its arguments as they are", async () => {
  using tree = checkout();
  symlinkSync("../bin/sidestick", join(tree.root, "node_modules/.bin-link"));
  symlinkSync(join(tree.root, "node_modules/.bin-link"), join(tree.root, "linked"));

  const { stdout, stderr } = await run(join(tree.root, "linked"), ["up", "--title", "a  'b'"], { cwd: tmpdir() });

  expect(stdout).toMatch(/^v24\.\d+\.\d+ up --title a {2}'b'\n$/);
  expect(stderr).toBe("");
});

test("[HSE-14] the command says what to do when nothing is installed", () => {
  using tree = temporaryTree({ "bin/sidestick": readFileSync(join(ROOT, "bin/sidestick"), "utf8") });

  const { status, stdout, stderr } = spawnSync("sh", [join(tree.root, "bin/sidestick"), "up"], { encoding: "utf8" });

  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toMatch(/^sidestick: .*Run npm install first\.\n$/);
});

test("[HSE-16] two starts at once install once, and the next has nothing to do", async () => {
  using tree = checkout();
  const lock = readFileSync(join(tree.root, "package-lock.json"), "utf8");

  const both = await Promise.all([bootstrap(tree), bootstrap(tree)]);
  const next = await bootstrap(tree);

  const said = both.map(({ stderr }) => stderr).join("");
  expect(said.match(/installing packages/g)).toHaveLength(1);
  expect(both.map(({ stdout }) => stdout)).toEqual(["", ""]);
  expect(next).toEqual({ stdout: "", stderr: "" });
  expect(readFileSync(join(tree.root, "package-lock.json"), "utf8")).toBe(lock);
});

test("[HSE-16] a changed lock is installed again, also when an earlier install was killed", async () => {
  using tree = checkout();
  await bootstrap(tree);
  const changed = { ...MANIFEST, lockfileVersion: 3, packages: { "": MANIFEST } };
  writeFileSync(join(tree.root, "package-lock.json"), JSON.stringify(changed));
  const { pid } = spawnSync("true");
  writeFileSync(join(tree.root, "node_modules", ".sidestick-installing"), String(pid));

  expect((await bootstrap(tree)).stderr).toMatch(/^sidestick: installing packages[^]*installed in/);
  expect((await bootstrap(tree)).stderr).toBe("");
});

test("[HSE-16] a killed install holds up nobody when another process has its pid", async () => {
  using tree = checkout();
  writeFileSync(join(tree.root, "node_modules", ".sidestick-installing"), `${process.pid} 1`);

  expect((await bootstrap(tree)).stderr).toMatch(/^sidestick: installing packages[^]*installed in/);
});

test("[HSE-16] what a killed install or build left is removed by the next run, and nothing of one that is at work", async () => {
  using tree = checkout();
  await bootstrap(tree);
  const dead = spawnSync("true").pid;
  const start = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)?.split(" ")[19];
  const files = {
    [`node_modules/.sidestick-installing.${dead}`]: `${dead} 1`,
    [`dist/web.${dead}/index.html`]: "",
    [`dist/program.${dead}/main.js`]: "",
    [`node_modules/.sidestick-installing.${process.pid}`]: `${process.pid} ${start}`,
    [`dist/web.${process.pid}/index.html`]: "",
    "dist/web/index.html": "",
  };
  write(tree, files);

  await bootstrap(tree);

  expect(Object.keys(files).filter((path) => existsSync(join(tree.root, path)))).toEqual(Object.keys(files).slice(3));
});

/** Makes empty builds. */
const VITE = `require("node:fs").mkdirSync(process.argv.at(-1), { recursive: true });`;
const SOURCES = {
  ...Object.fromEntries(["client", "protocol", "domain", "web"].map((name) => [`src/${name}/index.ts`, ""])),
  "vite.config.ts": "",
  "vite.program.config.ts": "",
};

test("[HSE-16] who can't write the checkout runs what is there, and is told what else is needed (needs setpriv)", async () => {
  using tree = checkout();
  await bootstrap(tree);
  write(tree, { ...SOURCES, "node_modules/vite/bin/vite.js": VITE });
  await bootstrap(tree, "--test");
  const closed = ["dist", "node_modules", "node_modules/.bin"].map((path) => join(tree.root, path));
  const changeAll = (mode: number): void => closed.forEach((path) => chmodSync(path, mode));
  changeAll(0o555);
  // Before the tree is removed: only root could remove it as it is.
  using _opened = { [Symbol.dispose]: () => changeAll(0o755) };

  expect(await bootstrapAsOther(tree)).toEqual({ stdout: "", stderr: "" });

  writeFileSync(join(tree.root, "src/web/index.ts"), "// another");
  await expect(bootstrapAsOther(tree)).rejects.toThrow(
    /\nsidestick: \S+node_modules isn't writable, and an install or a build is needed: first run `npm run build` as .*\n$/,
  );
});

test("[HSE-19] a build of the page that fails leaves nothing in dist", async () => {
  using tree = checkout();
  await bootstrap(tree);
  write(tree, { ...SOURCES, "node_modules/vite/bin/vite.js": `${VITE} process.exit(1);` });

  const failed = bootstrap(tree, "--page");

  await expect(failed).rejects.toThrow("the web page could not be built");
  expect(readdirSync(join(tree.root, "dist"))).toEqual([]);
});

test("[HSE-17] the lock names no registry", () => {
  expect(readFileSync(join(ROOT, "package-lock.json"), "utf8")).not.toContain('"resolved"');
});

test("[HSE-17] no file names a path of somebody's home or workplace", () => {
  const paths = filesIn(ROOT, "{src,test,tools,bench,bin,docs,changes,.ci}/**/*.*", "*.{md,json,ts}", ".npmrc");
  // `/home/u` is nobody's: examples of policy are tried there.
  const offenders = paths.filter((path) =>
    /(?<![\w.~}])\/(?:home(?!\/u\b)|Users|work|root)\/\w/.test(readFileSync(join(ROOT, path), "utf8")),
  );

  expect(offenders).toEqual([]);
});
