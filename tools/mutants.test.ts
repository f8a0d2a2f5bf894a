import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MUTANTS } from "./mutants/list.ts";
import { endingOf, mutated } from "./mutants.ts";
import { filesIn, ROOT } from "./source-files.ts";
import { patience } from "./suite/patience.ts";
import { vitestProject } from "./suite/vitest-project.ts";
import { runVitest } from "./suite/vitest-run.ts";

test.each(MUTANTS)("[HSE-18] `$name` can still be put into its file", (mutant) => {
  const source = readFileSync(join(ROOT, mutant.file), "utf8");

  expect(mutated(source, mutant)).toBeDefined();
});

test("[HSE-18] the tests that must catch a fault are there, and each fault has a name of its own", () => {
  const tests = filesIn(ROOT, "{src,test,tools}/**/*.test.ts");
  const missing = MUTANTS.flatMap((it) => it.tests).filter((name) => !tests.some((path) => path.startsWith(name)));

  expect(missing).toEqual([]);
  expect(new Set(MUTANTS.map((it) => it.name)).size).toBe(MUTANTS.length);
});

test("[HSE-18] a fault whose text stands nowhere or twice is no fault", () => {
  expect(mutated("a b", { text: "b", becomes: "c" })).toBe("a c");
  expect(mutated("a", { text: "b", becomes: "c" })).toBeUndefined();
  expect(mutated("b b", { text: "b", becomes: "c" })).toBeUndefined();
});

const IMPORT = `import { existsSync } from "node:fs"; import { test } from "vitest";`;
/** Ends when the project is gone. */
const STUCK = `test("it", () => { while (existsSync("package.json")); });`;

type Case = { readonly ending: string; readonly files: Readonly<Record<string, string>> };

test.each<Case>([
  { ending: "passed", files: { "a.test.ts": `${IMPORT} test("it", () => {});` } },
  {
    ending: "failed",
    files: { "a.test.ts": `${IMPORT} test("it", () => { throw new Error("!"); }); test("2", () => {});` },
  },
  { ending: "failed", files: { "a.test.ts": `import "./nowhere.ts"; ${IMPORT} test("it", () => {});` } },
  { ending: "timed out", files: { "a.test.ts": IMPORT + STUCK } },
  {
    ending: "broken",
    files: { "vitest.config.ts": "throw new Error();", "a.test.ts": `${IMPORT} test("it", () => {});` },
  },
  { ending: "broken", files: { "a.txt": "" } },
  {
    ending: "broken",
    files: {
      "a.test.ts": `${IMPORT} test("it", () => { process.kill(process.pid, "SIGKILL"); }); test("2", () => {});`,
    },
  },
  {
    ending: "failed",
    files: {
      "a.test.ts": `${IMPORT} test("it", () => { process.kill(process.pid, "SIGKILL"); });`,
      "b.test.ts": `${IMPORT} test("it", () => { throw new Error("!"); });`,
    },
  },
])("[HSE-18] tests that $ending: $files", async ({ ending, files }) => {
  using tree = vitestProject(files);
  const hangMs = (ending === "timed out" ? 5_000 : 60_000) * patience();
  const run = { root: tree.root, filters: [], output: "ignore", isBailing: true, hangMs } as const;

  expect(endingOf(await runVitest(run))).toBe(ending);
});
