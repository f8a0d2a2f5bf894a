import { appendFileSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../source-files.ts";
import { temporaryTree } from "../temporary-tree.ts";
import type { FileReport } from "./report.ts";
import { runSuite } from "./run.ts";
import { beginProgress, readProgress, soakPage } from "./soak-progress.ts";
import { judge } from "./verdict.ts";

const HEAD = { commit: "abc", seed: "7", beganAt: "2026-11-18T08:00:00.000Z" };

function report(file: string, state: "passed" | "failed", ms = 1_000): FileReport {
  return { file, ms, isLoaded: true, errors: [], tests: [{ title: "it", state, ms }] };
}

test("[HSE-27] a soak that was interrupted keeps its results, failures and unhandled errors included", () => {
  using tree = temporaryTree({});
  const path = join(tree.root, "cache", "soak.jsonl");
  beginProgress(path, HEAD);
  const done = [report("a.test.ts", "passed"), report("b.test.ts", "failed")];
  const unloadable = { ...report("c.test.ts", "passed"), isLoaded: false, tests: [] };
  const lines = [...done, unloadable].map((file) => `${JSON.stringify({ file, unhandled: [`in ${file.file}`] })}\n`);
  // The first soak was cut off while it wrote a line, and so was the one that resumed it.
  appendFileSync(path, `${lines[0]}{"file":"d.test${lines[1]}${lines[1]}${lines[2]}{"file":"d.test`);

  expect(readProgress(path, "abc")).toEqual({
    head: HEAD,
    finished: { files: done, unhandled: ["in a.test.ts", "in b.test.ts", "in c.test.ts"] },
  });
});

test("[HSE-27] a soak whose files are all done runs only the failed ones again", async () => {
  using tree = temporaryTree({
    "package.json": `{ "type": "module" }`,
    "a.test.ts": `import { test } from "vitest"; test("it", () => { throw new Error("ran again"); });`,
    "b.test.ts": `import { test } from "vitest"; test("it", () => {});`,
  });
  mkdirSync(join(tree.root, "node_modules"));
  symlinkSync(join(ROOT, "node_modules", "vitest"), join(tree.root, "node_modules", "vitest"));
  const earlier = { files: [report("a.test.ts", "passed"), report("b.test.ts", "failed")], unhandled: [] };

  const { verdict } = await runSuite({ root: tree.root, filters: [], output: "ignore" }, { earlier });

  expect(verdict).toMatchObject({ passed: 2, failures: [], flaky: [{ file: "b.test.ts", title: "it" }] });
});

test.each([
  { what: "nothing", soak: "", said: "There is no soak to resume." },
  { what: "another commit's", soak: `{"commit":"old"}\n`, said: "That soak was of old, and this is abc." },
])("[HSE-27] a soak doesn't go on with $what", ({ soak, said }) => {
  using tree = temporaryTree({ soak });

  expect(readProgress(join(tree.root, "soak"), "abc")).toContain(said);
});

test("[HSE-27] the page says when, of what, with which seed, how long and with what result", () => {
  const first = { files: [report("a.test.ts", "passed", 90_000), report("b.test.ts", "failed")], unhandled: [] };
  const run = { first, verdict: judge(first, { files: [report("b.test.ts", "passed")], unhandled: [] }) };

  const page = soakPage(HEAD, run, new Date("2026-11-18T09:30:00.000Z"));
  for (const line of [
    "| began | 2026-11-18T08:00:00.000Z |",
    "| took | 90 minutes, interruptions included |",
    "| commit | abc |",
    "| seed | 7 |",
    "| result | 2 passed, 0 failed, 0 skipped, 1 flaky |",
    "- b.test.ts: it",
    "| 90 | a.test.ts |",
  ]) {
    expect(page.split("\n")).toContain(line);
  }
});
