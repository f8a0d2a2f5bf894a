#!/usr/bin/env node
/**
 * Makes a checkout ready to run. Plain JavaScript for Node 20 and later, without packages: it runs before anything
 * is installed. Says what it does on stderr, so that the output of what follows stays clean.
 *
 *   bootstrap.mjs         installs the npm packages if package-lock.json changed since the last time
 *   bootstrap.mjs --page  also builds the web page and the program if their sources changed
 *   bootstrap.mjs --test  the same, and fails where the program can't be built
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { builtProgram, PROGRAMS } from "./program.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const stamp = join(modules, ".sidestick-installed");
const lock = join(modules, ".sidestick-installing");
const ownNode = join(modules, ".bin", "node");
const ownCommand = join(modules, ".bin", "sidestick");
const page = join(root, "dist", "web");
const pageStamp = join(page, ".sources");
/** A running hub still loads files from its build, so recent builds are kept. */
const PROGRAMS_KEPT = 5;
const KEPT_MS = 2 * 86_400_000;
const PAGE_SOURCES = ["src/web", "src/client", "src/protocol", "src/domain", "vite.config.ts", "package-lock.json"];

/** In `dist`, `node_modules` and its `.bin`: what a run makes under a name of its own, until it is finished. */
const OF_A_RUN = /^(?:web|program|sidestick|\.sidestick-install(?:ed|ing)(?:\.stale)?)\.(\d+)$/;
const CANT_WRITE = new Set(["EACCES", "EPERM", "EROFS"]);

// `npm install`, not `npm ci`: a registry that lacks optional packages of other platforms makes `ci` refuse the lock.
// `--no-save`: starting a program must not change package-lock.json.
const INSTALL = ["install", "--no-save", "--no-audit", "--no-fund", "--include=dev", "--include=optional"];

try {
  removeLeft();
  if (!isInstalled()) await withLock(install);
  // Without the lock where there is nothing to do: an account that can't write here may run what is there.
  const isTest = process.argv.includes("--test");
  if ((isTest || process.argv.includes("--page")) && !isBuilt()) await withLock(build);
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

function isInstalled() {
  return existsSync(ownNode) && existsSync(ownCommand) && readIfThere(stamp) === wanted();
}

/** What node_modules has to match. The platform is part of it: a checkout may be shared between machines. */
function wanted() {
  const hash = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  return `${hash} ${process.platform}-${process.arch}\n`;
}

async function install() {
  if (isInstalled()) return;
  const began = Date.now();
  const seconds = () => Math.round((Date.now() - began) / 1000);
  say("installing packages (half a minute the first time) ...");
  const ticker = setInterval(() => say(`... still installing, ${seconds()} s`), 15_000);
  const { code, output } = await runNpm(INSTALL).finally(() => clearInterval(ticker));
  if (code !== 0) throw new Error(`npm install failed:\n${output.trimEnd()}`);
  finishInstall();
  say(`installed in ${seconds()} s`);
}

function finishInstall() {
  const version = spawnSync(ownNode, ["--version"], { encoding: "utf8" }).stdout?.trim();
  if (!version?.startsWith("v24.")) {
    throw new Error(
      `node_modules/.bin/node should be Node 24 but is ${version || "missing"}. Its package needs its install ` +
        "script: run `npm install --ignore-scripts=false --include=dev`.",
    );
  }
  // npm links the commands of dependencies only; with this link npm scripts and PATH lookups find the checkout's own.
  replaceAtomically(ownCommand, (path) => symlinkSync(join("..", "..", "bin", "sidestick"), path));
  replaceAtomically(stamp, (path) => writeFileSync(path, wanted()));
}

function isBuilt() {
  return readIfThere(pageStamp) === pageSources() && isProgramBuilt();
}

/** Where sources are missing, the build says which. */
function isProgramBuilt() {
  try {
    return existsSync(builtProgram());
  } catch {
    return false;
  }
}

async function build() {
  await buildPage();
  try {
    await buildProgram();
  } catch (error) {
    if (process.argv.includes("--test")) throw error;
    say(`it will start from its sources, which takes a moment longer: ${error.message}`);
  }
}

/** Beside the old one, which takes its place as a whole: a hub may be serving it. */
async function buildPage() {
  const sources = pageSources();
  if (readIfThere(pageStamp) === sources) return;
  say("building the web page ...");
  const next = join(root, "dist", `web.${process.pid}`);
  try {
    await viteBuild("vite.config.ts", next, "the web page");
    writeFileSync(join(next, ".sources"), sources);
    rmSync(page, { recursive: true, force: true });
    renameSync(next, page);
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
}

/** Its name is a digest of the sources. If the sources change during the build, the result is discarded. */
async function buildProgram() {
  const program = builtProgram();
  if (existsSync(program)) return;
  const next = join(root, "dist", `program.${process.pid}`);
  try {
    await viteBuild("vite.program.config.ts", next, "the program");
    mkdirSync(PROGRAMS, { recursive: true });
    if (builtProgram() === program) renameSync(next, program);
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
  removeOldPrograms();
}

function removeOldPrograms() {
  const newest = readdirSync(PROGRAMS)
    .map((name) => join(PROGRAMS, name))
    .toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const path of newest.slice(PROGRAMS_KEPT)) if (isOld(path)) rmSync(path, { recursive: true, force: true });
  // Compiled code is in folders, under the name of the file that it was compiled of, and is made again where it is wanted.
  const caches = join(modules, ".cache");
  if (!existsSync(caches)) return;
  for (const it of readdirSync(caches, { recursive: true, withFileTypes: true })) {
    const path = join(it.parentPath, it.name);
    if (it.isFile() && it.parentPath !== caches && isOld(path)) rmSync(path, { force: true });
  }
}

/** A running program may replace the file meanwhile; a missing file isn't old. */
function isOld(path) {
  const { mtimeMs = Infinity } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return Date.now() - mtimeMs > KEPT_MS;
}

async function viteBuild(config, directory, what) {
  const vite = [join(modules, "vite", "bin", "vite.js"), "build", "--config", join(root, config)];
  // Vite would put its compiled code into the system's temporary directory.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(modules, ".cache", "vite") };
  const { code, output } = await run(ownNode, [...vite, "--logLevel", "error", "--outDir", directory], env);
  if (code !== 0) throw new Error(`${what} could not be built:\n${output.trimEnd()}`);
}

function pageSources() {
  return digestOf(PAGE_SOURCES.map((path) => join(root, path)));
}

function digestOf(paths) {
  const hash = createHash("sha256");
  for (const path of paths) {
    const inside = statSync(path).isDirectory() ? readdirSync(path).toSorted() : undefined;
    if (inside === undefined) hash.update(path.slice(root.length)).update(readFileSync(path));
    else hash.update(digestOf(inside.filter((it) => !it.endsWith(".test.ts")).map((it) => join(path, it))));
  }
  return hash.digest("hex");
}

function runNpm(parameters) {
  const viaNpm = process.env.npm_execpath?.endsWith("npm-cli.js");
  const [command, first] = viaNpm ? [process.execPath, [process.env.npm_execpath]] : ["npm", []];
  return run(command, [...first, ...parameters]);
}

function run(command, parameters, env = process.env) {
  const child = spawn(command, parameters, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}

/** Two starts at once: the second waits for the first and then finds everything there. */
async function withLock(work) {
  const mine = `${lock}.${process.pid}`;
  try {
    mkdirSync(modules, { recursive: true });
    writeFileSync(mine, `${process.pid} ${startOf(process.pid)}`);
  } catch (error) {
    if (!CANT_WRITE.has(error.code)) throw error;
    const advice = "first run `npm run build` as the account that owns the checkout";
    throw new Error(`${modules} isn't writable, and an install or a build is needed: ${advice}`, { cause: error });
  }
  try {
    for (let waits = 0; !tryLink(mine); waits += 1) {
      const held = readIfThere(lock);
      if (held !== "" && !isHolderAlive(held)) removeStale(held);
      else if (waits === 0 && held !== "")
        say(`waiting for process ${parseInt(held, 10)}, which installs or builds here`);
      await sleep(200);
    }
    try {
      await work();
    } finally {
      rmSync(lock, { force: true });
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

/** What runs that were killed left half done. */
function removeLeft() {
  for (const folder of [modules, join(modules, ".bin"), join(root, "dist")]) {
    for (const name of namesIn(folder)) {
      const pid = OF_A_RUN.exec(name)?.[1];
      try {
        if (pid !== undefined && !isAtWork(pid)) rmSync(join(folder, name), { recursive: true, force: true });
      } catch {
        // It is another account's.
      }
    }
  }
}

/** Whoever installs or builds has a file beside the lock, which is empty for a moment. */
function isAtWork(pid) {
  const own = `${lock}.${pid}`;
  const held = readIfThere(own);
  return held === "" ? existsSync(own) && isAlive(Number(pid)) : isHolderAlive(held);
}

function namesIn(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** By pid and time of its start: after a restart of the machine or container another process may have the same pid. */
function isHolderAlive(held) {
  const [pid, start] = held.split(" ");
  return isAlive(Number(pid)) && startOf(pid) === (start ?? "");
}

/** When a process began, in the kernel's ticks since its own start; empty where there is no /proc. */
function startOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}

/** Renamed first: another that waits may have removed it already and taken the lock. */
function removeStale(held) {
  const stale = `${lock}.stale.${process.pid}`;
  try {
    renameSync(lock, stale);
    if (readIfThere(stale) !== held) linkSync(stale, lock);
  } catch {
    // Somebody else was quicker.
  }
  rmSync(stale, { force: true });
}

/** Linking a finished file: whoever sees the lock also sees who holds it. */
function tryLink(mine) {
  try {
    linkSync(mine, lock);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

function replaceAtomically(path, make) {
  const next = `${path}.${process.pid}`;
  rmSync(next, { force: true });
  make(next);
  renameSync(next, path);
}

function readIfThere(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return "";
    throw error;
  }
}

function say(text) {
  process.stderr.write(`sidestick: ${text}\n`);
}
