import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

const BUILT = fileURLToPath(new URL("../../dist/web", import.meta.url));
const FIRST_LOAD_MAX = 250 * 1024;

test("[WEB-5] what is loaded at first is small, and the terminal isn't part of it", () => {
  const page = readFileSync(join(BUILT, "index.html"), "utf8");
  const named = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map((it) => it[1] ?? "");
  const files = named.map((name) => readFileSync(join(BUILT, name)));
  const packed = files.reduce((sum, it) => sum + gzipSync(it).length, gzipSync(page).length);

  expect(named.length).toBeGreaterThan(1);
  expect(packed).toBeLessThan(FIRST_LOAD_MAX);
  expect(files.some((it) => it.includes("xterm-helper-textarea"))).toBe(false);
  const later = readdirSync(join(BUILT, "assets")).filter((name) => !named.includes(`assets/${name}`));
  expect(later.some((name) => readFileSync(join(BUILT, "assets", name)).includes("xterm-helper-textarea"))).toBe(true);
});
