import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { IS_SOAK } from "./test/support/soak.ts";
import { patience } from "./tools/suite/patience.ts";

/** Tests of rules and of our own tools: nothing that they load keeps anything, so they need no process each. */
const PURE = ["src/{domain,protocol,client,lib}/**/*.test.ts", "tools/**/*.test.ts"];

/** It loads the test files of others and runs them against a joined host, so it gets a process of its own. */
const ALONE = ["test/remote/as-here.test.ts"];

/** With a browser. */
const WEB = ["test/web/**/*.test.ts"];

/** For a test that waits for several things, each up to the deadline of `test/support/deadline.ts`. */
const TIMEOUT_MS = (IS_SOAK ? 3_600_000 : 120_000) * patience();

/**
 * A developer's own settings of the product and their directories would reach it in tests. In a hook, git names the
 * developer's repository, and a test that commits would commit there. Through a proxy no test finds its own servers.
 */
const NOT_FOR_TESTS = /^(?:GIT|SIDESTICK|XDG)_|_PROXY$/i;
/** These are the suite's. */
const SETTINGS = /^SIDESTICK_(?:DEADLINE_MS|PATIENCE|RUN_PROGRESS|SCREENSHOTS|SEED|SOAK)$/;
for (const name of Object.keys(process.env))
  if (NOT_FOR_TESTS.test(name) && !SETTINGS.test(name)) delete process.env[name];

export default defineConfig({
  test: {
    pool: "forks",
    // Half of a test is waiting for processes: four files keep two cores busy.
    maxWorkers: 4,
    isolate: false,
    // What tests start is compiled once, not a thousand times.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules", ".cache", "tests") },
    // As Node runs it outside of tests, out of the same cache: each file of tests loads half of the product.
    experimental: { viteModuleRunner: false },
    testTimeout: TIMEOUT_MS,
    hookTimeout: TIMEOUT_MS,
    // A row of a table may end with `(needs python3)`, which the runner reads.
    taskTitleValueFormatTruncate: 0,
    runner: "./tools/suite/runner.ts",
    // Vitest would take them from `CI`, and leave out tests or write what they expect where a developer runs them.
    allowOnly: false,
    passWithNoTests: false,
    update: "none",
    sequence: { concurrent: false },
    projects: [
      { extends: true, test: { name: "alone", include: ALONE, isolate: true } },
      { extends: true, test: { name: "pure", include: PURE } },
      { extends: true, test: { name: "web", include: WEB } },
      {
        extends: true,
        test: {
          name: "whole",
          include: ["src/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...PURE, ...WEB, ...ALONE],
        },
      },
    ],
  },
});
