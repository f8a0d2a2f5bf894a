import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { ROOT } from "../source-files.ts";
import { runSuite } from "./run.ts";
import { vitestProject } from "./vitest-project.ts";

/** The suite's own configuration, for the files of another project. */
const CONFIG = `import { defineConfig } from "vitest/config";
import config from ${JSON.stringify(join(ROOT, "vitest.config.ts"))};
const { projects: _, ...test } = config.test;
export default defineConfig({ test: { ...test, runner: ${JSON.stringify(join(ROOT, "tools", "suite", "runner.ts"))} } });
`;
const IMPORT = `import { expect, test } from "vitest";\n`;

test("[HSE-11] a test with `only` and an expectation that nobody has written fail, with and without CI", async () => {
  vi.stubEnv("CI", undefined);
  using tree = vitestProject({
    "vitest.config.ts": CONFIG,
    "only.test.ts": `${IMPORT}test.only("alone", () => {});\ntest("left out", () => {});`,
    "unwritten.test.ts": `${IMPORT}test("unwritten", () => expect(1).toMatchSnapshot());`,
    "well.test.ts": `${IMPORT}test("well", () => {});`,
  });

  const { verdict } = await runSuite({ root: tree.root, filters: [], output: "ignore" });
  vi.unstubAllEnvs();

  expect(verdict).toMatchObject({
    passed: 1,
    failures: [
      { file: "only.test.ts", title: "alone", error: expect.stringContaining("only") },
      { file: "only.test.ts", title: "left out" },
      { file: "unwritten.test.ts", title: "unwritten", error: expect.stringContaining("mismatched") },
    ],
  });
});

test("[HSE-32] tests get neither git's variables nor a proxy's", async () => {
  const names = ["GIT_DIR", "GIT_INDEX_FILE", "NODE_USE_ENV_PROXY", "HTTP_PROXY", "https_proxy", "NO_PROXY"];
  using tree = vitestProject({
    "vitest.config.ts": CONFIG,
    "env.test.ts": `${IMPORT}const names = ${JSON.stringify(names)};
test("none", () => expect(names.filter((it) => it in process.env)).toEqual([]));`,
  });

  const env = Object.fromEntries(names.map((it) => [it, "http://127.0.0.1:1"]));
  const { verdict } = await runSuite({ root: tree.root, filters: [], output: "ignore", env });

  expect(verdict).toEqual({ passed: 1, skipped: [], failures: [], flaky: [] });
});
