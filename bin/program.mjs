/**
 * The program in a few files instead of five hundred: finding and linking modules is half of a start. It is a cache: it
 * lies under the state of the sources that it was built of, and where there is none of theirs, they are run themselves.
 * Plain JavaScript for Node 20 and later, loaded before anything else. Rule HSE-19 in docs/spec/house.md.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** What decides how it is built, beside the sources. */
const SETTINGS = ["package-lock.json", "vite.program.config.ts"];
/** The page is built by itself. */
const APART = join(root, "src", "web");

export const PROGRAMS = join(root, "dist", "program");

let known;

/** What to load for a module of `src`, named without its ending: built, if it is an entry of what was built. */
export function program(name) {
  try {
    known ??= builtProgram();
    const built = join(known, `${name.replaceAll("/", "-")}.js`);
    if (existsSync(built)) return pathToFileURL(built).href;
  } catch {
    // What can't be looked at is not known to be the same.
  }
  return pathToFileURL(join(root, "src", `${name}.ts`)).href;
}

/** Where the one of the sources as they are now lies, if it was built. */
export function builtProgram() {
  const states = [...SETTINGS.map((name) => stateOf(join(root, name))), ...statesIn(join(root, "src"))];
  const sorted = states.toSorted((a, b) => (a < b ? -1 : 1));
  return join(PROGRAMS, createHash("sha256").update(sorted.join("\n")).digest("hex").slice(0, 32));
}

/** Names, sizes and times: to read them all would take as long as what is saved. */
function statesIn(directory) {
  return readdirSync(directory, { withFileTypes: true }).flatMap((it) => {
    const path = `${directory}/${it.name}`;
    if (it.isDirectory()) return path === APART ? [] : statesIn(path);
    return it.name.endsWith(".test.ts") ? [] : [stateOf(path)];
  });
}

function stateOf(path) {
  const { size, mtimeMs } = statSync(path);
  return `${path.slice(root.length)} ${size} ${mtimeMs}`;
}
