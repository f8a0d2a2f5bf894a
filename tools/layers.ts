/**
 * Which folder of `src/` may import what. A new arrow is a change of architecture: edit the table in the same change
 * and say why in docs/adr. Rules HSE-1..HSE-6 in docs/spec/house.md.
 *
 *   node tools/layers.ts    prints every import that the table does not allow
 */
import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, posix } from "node:path";
import { readImports } from "./imports.ts";
import type { Import } from "./imports.ts";
import { filesIn, isMain, isTestFile, report, ROOT } from "./source-files.ts";

type Layer = {
  /** Folders of `src/`, beside its own. */
  readonly folders: readonly string[];
  /** Folders that it may load only when they are needed, by `import()`. */
  readonly lazily?: readonly string[];
  /** Single files outside those folders. */
  readonly files?: readonly string[];
  readonly packages: readonly string[] | "any";
  /** Modules of Node itself. */
  readonly node: readonly string[] | "any";
};

const MANIFEST = "package.json";
const PORTS = "src/hub/ports.ts";
const CHANNEL_PORT = "src/hub/channel-port.ts";
const OUTBOX_PORT = "src/hub/chat/outbox-port.ts";

const LAYERS: Readonly<Record<string, Layer>> = {
  domain: { folders: [], packages: [], node: [] },
  protocol: { folders: ["domain"], packages: ["zod"], node: [] },
  lib: { folders: [], packages: "any", node: "any" },
  hub: {
    folders: ["domain", "protocol", "lib"],
    packages: [],
    // No files, sockets or processes: those are reached through the ports.
    node: ["node:buffer", "node:crypto", "node:events", "node:timers/promises", "node:util"],
  },
  host: { folders: ["domain", "protocol", "lib"], packages: "any", node: "any" },
  store: { folders: ["domain", "protocol", "lib"], files: [PORTS, OUTBOX_PORT], packages: "any", node: "any" },
  channels: { folders: ["domain", "protocol", "lib"], files: [PORTS, CHANNEL_PORT], packages: "any", node: "any" },
  server: { folders: ["domain", "protocol", "lib", "hub"], files: [MANIFEST], packages: "any", node: "any" },
  // Runs in browsers too.
  client: { folders: ["domain", "protocol"], packages: [], node: [] },
  cli: {
    folders: ["domain", "protocol", "lib", "client"],
    lazily: ["main"],
    files: [MANIFEST],
    packages: "any",
    node: "any",
  },
  web: { folders: ["domain", "protocol", "client"], packages: "any", node: [] },
  main: {
    folders: ["domain", "protocol", "lib", "hub", "host", "store", "channels", "server", "client", "cli", "web"],
    files: [MANIFEST],
    packages: "any",
    node: "any",
  },
};

const TEST_PACKAGES = new Set(["vitest", "fast-check"]);
/** Not a URL, an absolute path or a name of our own by which a folder could be reached unseen. */
const PACKAGE_NAME = /^(?!sidestick$)(?:@[\w.~-]+\/)?[a-z\d~-][\w.~-]*$/;
const LIB_FILES_MAX = 10;

/** Every import of the tree that the table does not allow, as `file:line imports X: reason`. */
export function layerOffences(root: string): string[] {
  const paths = filesIn(root, "src/**/*.ts", "src/**/*.tsx");
  const offences = paths.flatMap((path) => fileOffences(path, readFileSync(join(root, path), "utf8")));
  const lib = paths.filter((path) => path.startsWith("src/lib/") && !isTestFile(path));
  if (lib.length > LIB_FILES_MAX) offences.push(`src/lib holds ${lib.length} files: at most ${LIB_FILES_MAX}`);
  return offences;
}

function fileOffences(path: string, source: string): string[] {
  const folder = folderOf(path);
  const layer = folder === undefined ? undefined : LAYERS[folder];
  if (layer === undefined) return [`${path}:1 is in no folder that tools/layers.ts knows`];
  return readImports(path, source).flatMap((it) => {
    const reason = refusal(path, layer, it);
    return reason === undefined ? [] : [`${path}:${it.line} imports ${it.specifier}: ${reason}`];
  });
}

function refusal(path: string, layer: Layer, it: Import): string | undefined {
  const test = isTestFile(path);
  const here = `src/${folderOf(path)}`;
  if (it.how === "computed") return test ? undefined : "a computed import can't be checked, write it out";
  if (!it.specifier.startsWith(".")) return outsideRefusal(it.specifier, layer, { here, test });

  const target = posix.normalize(posix.join(posix.dirname(path), it.specifier));
  const folder = folderOf(target);
  if (layer.files?.includes(target)) return undefined;
  if (folder === undefined) {
    return test && target.startsWith("test/") ? undefined : `${here} may not import ${target}`;
  }
  if (test || `src/${folder}` === here || layer.folders.includes(folder)) return undefined;
  if (!layer.lazily?.includes(folder)) return `${here} may not import src/${folder}`;
  return it.how === "dynamic" ? undefined : `${here} may import src/${folder} only by import()`;
}

function outsideRefusal(
  specifier: string,
  layer: Layer,
  { here, test }: { readonly here: string; readonly test: boolean },
): string | undefined {
  if (isBuiltin(specifier)) {
    const name = specifier.startsWith("node:") ? specifier : `node:${specifier}`;
    return test || layer.node === "any" || layer.node.includes(name) ? undefined : `${here} may not import ${name}`;
  }
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
  const known = layer.packages === "any" ? PACKAGE_NAME.test(name) : layer.packages.includes(name);
  const allowed = TEST_PACKAGES.has(name) ? test : known;
  return allowed ? undefined : `${here} may not import the package ${name}`;
}

/** `hub` for `src/hub/…`; undefined for a file elsewhere. */
function folderOf(path: string): string | undefined {
  return /^src\/([^/]+)(?:\/|$)/.exec(path)?.[1];
}

if (isMain(import.meta.url)) report("layers", layerOffences(ROOT));
