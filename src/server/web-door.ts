/**
 * The web UI as `npm run build` left it. What can be asked for is what lay there when it was first asked for; nothing
 * else of the disk is reached. Rules WEB-1..WEB-4 in docs/spec/web.md.
 */
import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { PublicDoor } from "./http-door.ts";
import { allowStyles, send } from "./responses.ts";

type Built = { readonly page: string; readonly files: ReadonlyMap<string, BuiltFile> };
type BuiltFile = { readonly type: string; readonly plain: Buffer; readonly packed: Buffer };

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};
const HTML = "text/html; charset=utf-8";
/** Their names change with what they hold. */
const FOR_GOOD = "public, max-age=31536000, immutable";

export function createWebDoor(directory: string): PublicDoor {
  let built: Promise<Built | undefined> | undefined;
  return async (request, response, { pathname }) => {
    const isPage = pathname === "/";
    if (!isPage && !pathname.startsWith("/assets/")) return false;
    if (request.method !== "GET" && request.method !== "HEAD") return false;
    // Files of it may be replaced just then. What could not be read once may be there for the next who asks.
    built ??= read(directory).catch((error: unknown) => {
      built = undefined;
      throw error;
    });
    const { page, files } = (await built) ?? { page: NOT_BUILT, files: new Map() as Built["files"] };
    if (page === NOT_BUILT) built = undefined;
    if (isPage) {
      const nonce = randomBytes(16).toString("base64");
      allowStyles(response, nonce);
      send(response, 200, page.replaceAll("__NONCE__", nonce), HTML);
      return true;
    }
    const file = files.get(pathname);
    if (file === undefined) return false;
    const isPacked = /\bgzip\b/.test(String(request.headers["accept-encoding"]));
    if (isPacked) response.setHeader("content-encoding", "gzip");
    response.setHeader("vary", "accept-encoding");
    response.setHeader("cache-control", FOR_GOOD);
    send(response, 200, isPacked ? file.packed : file.plain, file.type);
    return true;
  };
}

/** Undefined: there is none, or it is just being built. */
async function read(directory: string): Promise<Built | undefined> {
  const page = await readFile(join(directory, "index.html"), "utf8").catch(() => undefined);
  const names = await readdir(join(directory, "assets")).catch(() => undefined);
  if (page === undefined || names === undefined) return undefined;
  const files = await Promise.all(
    names.map(async (name) => {
      const plain = await readFile(join(directory, "assets", name));
      const type = TYPES[extname(name)] ?? "application/octet-stream";
      return [`/assets/${name}`, { type, plain, packed: await promisify(gzip)(plain) }] as const;
    }),
  );
  return { page, files: new Map(files) };
}

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Sidestick</title>
<link rel="stylesheet" href="/assets/style.css"><main class="narrow"><h1>Sidestick</h1>
<p>The hub runs, but its page isn't built. In the directory of the project:</p><pre>npm run build</pre>
<p>Then load this page again. The command line and the API work without it.</p></main></html>`;
