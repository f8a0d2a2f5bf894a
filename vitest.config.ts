import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** Tests of rules and of our own tools: nothing that they load keeps anything, so they need no process each. */
const PURE = ["src/{domain,protocol,client,lib}/**/*.test.ts", "tools/**/*.test.ts"];

/** Says what others run on, and runs the tests of other files: in a process of its own. */
const ALONE = ["test/remote/as-here.test.ts"];

/** With a browser, all of them at once on two cores: half a minute may be too short for one that does much. */
const WEB = ["test/web/**/*.test.ts"];

export default defineConfig({
  test: {
    pool: "forks",
    // Half of a test is waiting for processes: three files keep two cores busy.
    maxWorkers: 3,
    isolate: false,
    // What tests start is compiled once, not a thousand times.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules", ".cache", "tests") },
    // As Node runs it outside of tests, out of the same cache: each file of tests loads half of the product.
    experimental: { viteModuleRunner: false },
    testTimeout: 30_000,
    hookTimeout: 30_000,
    sequence: { concurrent: false },
    projects: [
      { extends: true, test: { name: "alone", include: ALONE, isolate: true } },
      { extends: true, test: { name: "pure", include: PURE } },
      { extends: true, test: { name: "web", include: WEB, testTimeout: 60_000, hookTimeout: 60_000 } },
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
