/** The few pages of the hub itself, read once at start; that of the operations is made when it is first asked for. They hold no session data; scripts fetch that as text. */
import { readFile } from "node:fs/promises";
import { docsPage } from "./docs-page.ts";
import type { PublicDoor } from "./http-door.ts";
import { send } from "./responses.ts";

const FILES = {
  "/login": ["login.html", "text/html; charset=utf-8"],
  "/assets/style.css": ["style.css", "text/css; charset=utf-8"],
  "/assets/login.js": ["login.js", "text/javascript; charset=utf-8"],
} as const;

type Page = { readonly body: string; readonly type: string };

export async function createPagesDoor(version: string): Promise<PublicDoor> {
  const pages = new Map<string, Page>();
  for (const [path, [file, type]] of Object.entries(FILES)) {
    pages.set(path, { body: await readFile(new URL(`./pages/${file}`, import.meta.url), "utf8"), type });
  }
  let docs: Page | undefined;
  return (request, response, url) => {
    if (url.pathname === "/docs") docs ??= { body: docsPage(version), type: "text/html; charset=utf-8" };
    const page = url.pathname === "/docs" ? docs : pages.get(url.pathname);
    if (page === undefined || (request.method !== "GET" && request.method !== "HEAD")) return false;
    send(response, 200, page.body, page.type);
    return true;
  };
}
