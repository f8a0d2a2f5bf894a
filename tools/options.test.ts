import { execFile } from "node:child_process";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { chosenPaths, ROOT, testFiles, unmatched } from "./source-files.ts";

function run(script: string, ...args: readonly string[]): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(import.meta.dirname, script), ...args], (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), said: stdout + stderr }),
    );
  });
}

test.each([
  { script: "check.ts", args: ["types", "no-such-step"], said: "No step begins with no-such-step. Steps: lint, types" },
  { script: "test.ts", args: ["src/domain", "no-such-test"], said: "No test file matches no-such-test\n\nnpm test" },
  { script: "test.ts", args: ["--slowest", "0"], said: "--slowest 0: give a whole number, 1 or more" },
  { script: "test.ts", args: ["--report", "package.json"], said: "--report package.json can't be used: it exists and" },
  { script: "test.ts", args: ["--slowst", "3"], said: "Unknown option '--slowst'" },
  { script: "repeat.ts", args: [], said: "Which test files?" },
  { script: "repeat.ts", args: ["no-such-test"], said: "No test file matches no-such-test" },
  { script: "repeat.ts", args: ["src/domain", "--times", "x"], said: "--times x: give a whole number, 1 or more" },
  { script: "soak.ts", args: ["no-such-test"], said: "No test file matches no-such-test" },
  { script: "soak.ts", args: ["src/domain", "--resume"], said: "--resume is for a whole soak" },
  { script: "mutants.ts", args: ["no-such-fault"], said: "No fault's name contains no-such-fault" },
])("[HSE-29] $script $args is refused before anything runs", async ({ script, args, said }) => {
  expect(await run(script, ...args)).toEqual({ code: 1, said: expect.stringContaining(said) });
});

test("[HSE-29] a filter is a part of a path in the checkout, whatever the checkout is called, or of a whole path", () => {
  const inFolder = `${basename(ROOT)}/src`;

  expect(unmatched([inFolder, `/${inFolder}/domain`])).toEqual([inFolder]);
  // They would choose every file, and leave out the checks.
  expect(unmatched(["", "./"])).toEqual(["", "./"]);
  expect(testFiles([join(ROOT, "src", "domain")])).toEqual(testFiles(["./src/domain"]));
  expect(chosenPaths(["tools/options"])).toEqual([import.meta.filename]);
  expect(chosenPaths([])).toEqual([]);
});

test.each(["test.ts", "repeat.ts", "soak.ts", "mutants.ts"])("[HSE-29] %s --help shows the usage", async (script) => {
  expect(await run(script, "--help")).toEqual({ code: 0, said: expect.stringMatching(/^npm (?:run )?test/) });
});
