import { expect, test } from "vitest";
import { isMissing, needsOf } from "./needs.ts";
import type { RunReport } from "./report.ts";
import { skippedLines } from "./summary.ts";

test.each([
  { title: "[ABC-1] runs (needs fish)", needs: ["fish"] },
  { title: "shells (needs root, fish and zsh) [ABC-1] runs (needs sudo)", needs: ["fish", "zsh", "sudo"] },
  { title: "[ABC-1] runs (needs root and an open checkout)", needs: [] },
  { title: "[ABC-1] fish", needs: [] },
])("[HSE-23] a title names the programs that its test needs: $title", ({ title, needs }) => {
  expect(needsOf("src/a.test.ts", title)).toEqual(needs);
});

test("[HSE-23] a folder can need a program as a whole", () => {
  expect(needsOf("test/web/pages.test.ts", "[ABC-1] opens (needs less)")).toEqual(["chromium", "less"]);
});

test("[HSE-23] a program is missing when no folder of the path has it", () => {
  expect([isMissing("sh"), isMissing("no-such-program-anywhere")]).toEqual([false, true]);
});

test("[HSE-23] the summary counts what was skipped, and says how to install what is missing", () => {
  const skipped = { title: "it", state: "skipped", ms: 0 } as const;
  const run: RunReport = {
    unhandled: [],
    files: [
      {
        file: "a.test.ts",
        ms: 1,
        isLoaded: true,
        errors: [],
        tests: [
          { ...skipped, missing: ["no-such-shell"] },
          { ...skipped, missing: ["no-such-shell", "no-such-editor"] },
          skipped,
          { ...skipped, state: "passed" },
        ],
      },
    ],
  };

  expect(skippedLines(run)).toEqual([
    "skipped 2: no-such-editor, no-such-shell are missing; sudo apt-get install no-such-editor no-such-shell",
    "skipped 1: each says why in its title",
  ]);
});
