import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../source-files.ts";
import { temporaryTree } from "../temporary-tree.ts";
import { runSuite } from "./run.ts";
import type { VitestRun } from "./vitest-run.ts";
import { lastLine, skippedLines } from "./summary.ts";
import { isGreen } from "./verdict.ts";

const IMPORTS = `import { existsSync, writeFileSync } from "node:fs";\nimport { beforeAll, expect, test } from "vitest";\n`;
/** True when it is called for the first time with that name in this tree. */
const FIRST = `const isFirst = (name) => { const first = !existsSync(name); writeFileSync(name, ""); return first; };\n`;

const RUNNER = join(import.meta.dirname, "runner.ts");

/** A project of its own, run by the real vitest. */
async function suiteOf(files: Readonly<Record<string, string>>, settings: Partial<VitestRun> = {}) {
  using tree = temporaryTree({
    "vitest.config.ts": `export default { test: { pool: "forks", isolate: false, maxWorkers: 2, runner: ${JSON.stringify(RUNNER)} } };\n`,
    "package.json": `{ "type": "module" }`,
    ...Object.fromEntries(Object.entries(files).map(([name, source]) => [name, IMPORTS + FIRST + source])),
  });
  mkdirSync(join(tree.root, "node_modules"));
  symlinkSync(join(ROOT, "node_modules", "vitest"), join(tree.root, "node_modules", "vitest"));
  return await runSuite({ root: tree.root, filters: [], output: "ignore", ...settings });
}

test("[HSE-20, HSE-21] real files: well, flaky, failing twice, and a hook that failed once", async () => {
  const { verdict } = await suiteOf({
    "well.test.ts": `test("well", () => {});`,
    "flaky.test.ts": `test("steady", () => {});\ntest("shaky", () => expect(isFirst("shaky")).toBe(false));`,
    "broken.test.ts": `test("broken", () => expect(1).toBe(2));`,
    "hook.test.ts": `beforeAll(() => { if (isFirst("hook")) throw new Error("not yet"); });\ntest("behind it", () => {});`,
  });

  expect(verdict).toMatchObject({
    passed: 4,
    skipped: [],
    flaky: [
      { file: "flaky.test.ts", title: "shaky", error: expect.stringContaining("expected true to be false") },
      { file: "hook.test.ts", title: "a hook of the file", error: expect.stringContaining("not yet") },
    ],
    failures: [{ file: "broken.test.ts", title: "broken", error: expect.stringContaining("expected 1 to be 2") }],
  });
  expect([isGreen(verdict), lastLine(verdict)]).toEqual([false, "4 passed, 1 failed"]);
});

test("[HSE-20] a run whose only failures were flaky is green", async () => {
  const { verdict } = await suiteOf({ "flaky.test.ts": `test("shaky", () => expect(isFirst("shaky")).toBe(false));` });

  expect([isGreen(verdict), lastLine(verdict), verdict.flaky.length]).toEqual([true, "1 passed, 0 failed", 1]);
});

test("[HSE-21] errors outside of tests, dead workers and files that can't be loaded are never forgiven", async () => {
  const { verdict } = await suiteOf({
    "late.test.ts": `test("late", async () => { if (isFirst("late")) { Promise.reject(new Error("nobody heard")); await new Promise((it) => setTimeout(it, 50)); } });`,
    "unloadable.test.ts": `if (isFirst("unloadable")) throw new Error("no such thing");\ntest("never", () => {});`,
    "dead.test.ts": `test("dead", () => { if (isFirst("dead")) process.kill(process.pid, "SIGKILL"); });`,
  });

  expect(isGreen(verdict)).toBe(false);
  const errors = verdict.failures.map(({ error }) => error).join("\n");
  expect(errors).toContain("nobody heard");
  expect(errors).toContain("no such thing");
  expect(errors).toMatch(/[Ww]orker/);
});

test("[HSE-21] a file that loads only in part is not forgiven", async () => {
  const { verdict } = await suiteOf({
    "part.test.ts": `import { describe } from "vitest";
test("well", () => {});
describe("a group", () => { if (isFirst("part")) throw new Error("no such group"); test("broken", () => expect(1).toBe(2)); });`,
  });

  expect(verdict.failures).toMatchObject([{ file: "part.test.ts", error: expect.stringContaining("no such group") }]);
});

test("[HSE-21] what happens outside of tests in the second run is not forgiven either", async () => {
  const failOnce = (name: string, then: string): string =>
    `test("${name}", async () => { if (isFirst("${name}")) throw new Error("once"); ${then} });`;
  const { verdict } = await suiteOf({
    "late.test.ts": failOnce(
      "late",
      `Promise.reject(new Error("nobody heard")); await new Promise((it) => setTimeout(it, 50));`,
    ),
    "dead.test.ts": failOnce("dead", `process.kill(process.pid, "SIGKILL");`),
  });

  expect(isGreen(verdict)).toBe(false);
  const errors = verdict.failures.map(({ title, error }) => `${title}: ${error}`).join("\n");
  expect(errors).toContain("nobody heard");
  expect(errors).toContain("dead: Error: once");
});

test("[HSE-21] six flaky tests fail the run", async () => {
  const { verdict } = await suiteOf({
    "flaky.test.ts": `test.each([1, 2, 3, 4, 5, 6])("shaky %i", (row) => expect(isFirst("shaky" + row)).toBe(false));`,
  });

  expect([isGreen(verdict), lastLine(verdict), verdict.flaky.length]).toEqual([false, "6 passed, 1 failed", 6]);
});

test("[HSE-28] a test that never yields ends the run as a failure", async () => {
  const { verdict } = await suiteOf(
    { "stuck.test.ts": `test("stuck", () => { while (existsSync("package.json")); });` },
    { hangMs: 3_000 },
  );

  expect(verdict.failures.map(({ error }) => error)).toEqual([
    "no test file ended for 0.05 minutes, and vitest left no report",
  ]);
});

test("[HSE-28] a process that a test left behind with its output doesn't keep the run from ending", async () => {
  // It ends by itself when the tree is gone.
  const program = `setInterval(() => require("node:fs").existsSync("package.json") || process.exit(), 50)`;
  const leave = `import { spawn } from "node:child_process";
test("leaves", () => void spawn(process.execPath, ["-e", ${JSON.stringify(program)}], { detached: true, stdio: "inherit" }).unref());`;

  const { verdict } = await suiteOf({ "leaves.test.ts": leave }, { endWithinMs: 500 });

  expect([isGreen(verdict), lastLine(verdict)]).toEqual([true, "1 passed, 0 failed"]);
});

test("[HSE-23] tests without their programs are skipped, and so are the hooks of a file that has no others", async () => {
  const { verdict } = await suiteOf(
    {
      "none.test.ts": `beforeAll(() => { throw new Error("no fish"); });\ntest("swims (needs fish)", () => {});`,
      "some.test.ts": `test.each([{ shell: "fish" }, { shell: "sh" }])("$shell runs (needs $shell)", () => {});`,
    },
    { env: { PATH: "/nowhere" } },
  );

  expect([isGreen(verdict), lastLine(verdict), verdict.skipped.length]).toEqual([true, "1 passed, 0 failed", 2]);
  expect(skippedLines(verdict.skipped)).toEqual(["skipped 2: fish is missing; sudo apt-get install fish"]);
});
