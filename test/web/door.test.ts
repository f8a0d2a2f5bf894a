import { execFile } from "node:child_process";
import { cp, mkdir, readFile, rmdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { createWebDoor } from "../../src/server/web-door.ts";
import { startTestHub } from "../support/hub.ts";
import { ask } from "../support/http.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** What it doesn't serve is answered 404, and 500 where it fails. */
async function serving(directory: string): Promise<string> {
  const door = createWebDoor(directory);
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://hub");
    const missing = (is: boolean): unknown => is || response.writeHead(404).end();
    void Promise.resolve(door(request, response, url)).then(missing, () => response.writeHead(500).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function built(): Promise<string> {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, "assets"));
  await writeFile(join(directory, "index.html"), '<script nonce="__NONCE__"></script>');
  await writeFile(join(directory, "assets", "a-1.js"), "x".repeat(10_000));
  await writeFile(join(directory, "secret"), "secret");
  return directory;
}

test("[WEB-1] where nothing is built the page says how to build it, and serves it as soon as it is there", async () => {
  const directory = await temporaryDirectory();
  const url = await serving(directory);
  const page = async (): Promise<string> => (await fetch(url)).text();
  const before = await page();
  const whole = await built();
  await cp(join(whole, "index.html"), join(directory, "index.html"));
  const halfBuilt = await page();
  await cp(whole, directory, { recursive: true });

  expect(before).toContain("npm run build");
  expect(halfBuilt).toBe(before);
  expect(await page()).toContain("<script");
});

test("[WEB-1] a page that could not be read is read again for the next who asks", async () => {
  const directory = await built();
  const unreadable = join(directory, "assets", "b-2.js");
  await mkdir(unreadable);
  const url = await serving(directory);
  const failed = (await fetch(url)).status;
  await rmdir(unreadable);

  expect([failed, (await fetch(url)).status]).toEqual([500, 200]);
});

test("[WEB-2, WEB-3] the page is kept by nobody and has a nonce of its own; files are kept, and packed", async () => {
  const url = await serving(await built());
  const pages = await Promise.all([fetch(url), fetch(url)]);
  const bodies = await Promise.all(pages.map((it) => it.text()));
  const file = await fetch(`${url}/assets/a-1.js`);

  const nonces = bodies.map((it) => /nonce="([^"]+)"/.exec(it)?.[1] ?? "");
  expect(new Set(nonces).size).toBe(2);
  expect(pages.map((it) => it.headers.get("content-security-policy"))).toEqual(
    nonces.map((it) => expect.stringContaining(`style-src 'self' 'nonce-${it}'`) as string),
  );
  expect(pages[0]?.headers.get("cache-control")).toBe("no-store");
  expect(file.headers.get("cache-control")).toContain("immutable");
  expect(file.headers.get("content-encoding")).toBe("gzip");
  expect(await file.text()).toBe("x".repeat(10_000));
});

test("[WEB-4] only what was built can be asked for", async () => {
  const url = await serving(await built());
  const paths = ["/secret", "/assets/../secret", "/assets/%2e%2e/secret", "/assets/", "/assets", "/index.html"];

  const answers = await Promise.all(paths.map(async (it) => (await fetch(url + it)).status));

  expect(answers).toEqual(paths.map(() => 404));
});

test("[WEB-1] the page is built when its sources changed, and not otherwise", async () => {
  const copy = await temporaryDirectory();
  for (const path of ["src/web", "src/client", "src/protocol", "src/domain", "bin", "tsconfig.base.json"])
    await cp(join(ROOT, path), join(copy, path), { recursive: true });
  for (const path of ["vite.config.ts", "package.json", "package-lock.json"])
    await cp(join(ROOT, path), join(copy, path));
  await symlink(join(ROOT, "node_modules"), join(copy, "node_modules"));
  const build = async (): Promise<string> =>
    (await promisify(execFile)(process.execPath, ["bin/bootstrap.mjs", "--page"], { cwd: copy })).stderr;

  const first = await build();
  const second = await build();
  await writeFile(join(copy, "src/web/index.html"), "<!doctype html><title>Another</title>");
  const third = await build();

  expect([first, second, third].map((it) => it.includes("building the web page"))).toEqual([true, false, true]);
  expect(await readFile(join(copy, "dist/web/index.html"), "utf8")).toContain("Another");
});

test("[WEB-6] the overview tells what a page begins with, to people alone", async () => {
  const hub = await startTestHub();
  const make = { method: "POST", path: "/sessions", token: hub.operatorToken, body: { kind: "terminal" } };
  const { sessionId } = (await ask(hub.url, make)).body as { readonly sessionId: string };
  const { body } = await ask(hub.url, { path: "/overview", token: hub.operatorToken });
  const refused = await ask(hub.url, { path: "/overview", token: hub.agentToken });

  expect(body).toMatchObject({
    me: { role: "operator", id: "olga" },
    sessions: [{ sessionId }],
    controls: [{ session_id: sessionId }],
    approvals: [],
    prompts: [],
    plans: [],
  });
  expect(refused.status).toBe(403);
});
