import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { temporaryTree } from "../temporary-tree.ts";
import { patience } from "./patience.ts";
import { runSuite, writeJson } from "./run.ts";
import { lastLine, skippedLines, summaryLines } from "./summary.ts";
import { isGreen } from "./verdict.ts";
import { KILL_VITEST, vitestProject } from "./vitest-project.ts";
import type { VitestRun } from "./vitest-run.ts";

const IMPORTS = `import { existsSync, writeFileSync } from "node:fs";\nimport { beforeAll, expect, test } from "vitest";\n`;
/** True when it is called for the first time with that name in this tree. */
const FIRST = `const isFirst = (name) => { const first = !existsSync(name); writeFileSync(name, ""); return first; };\n`;

type Settings = Partial<VitestRun> & { readonly expected?: readonly string[] };

/** A project of its own, run by the real vitest. What isn't a test file stays as it is. */
async function suiteOf(files: Readonly<Record<string, string>>, { expected = [], ...settings }: Settings = {}) {
  const sources = Object.entries(files).map(([name, source]) => [
    name,
    name.endsWith(".test.ts") ? IMPORTS + FIRST + source : source,
  ]);
  using tree = vitestProject(Object.fromEntries(sources));
  return await runSuite({ root: tree.root, filters: [], output: "ignore", ...settings }, { expected });
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

test("[HSE-15] a file that doesn't run, though it should, is a failure", async () => {
  const { verdict } = await suiteOf(
    { "well.test.ts": `test("well", () => {});` },
    { expected: ["well.test.ts", "folder/left-out.test.ts"] },
  );

  expect(verdict.failures).toEqual([
    { file: "folder/left-out.test.ts", title: "the file itself", error: "it didn't run" },
  ]);
  expect(lastLine(verdict)).toBe("1 passed, 1 failed");
});

test("[HSE-28] a test that never yields ends the run as a failure, which names its file and keeps the others", async () => {
  const { verdict } = await suiteOf(
    {
      "stuck.test.ts": `test("stuck", () => { while (existsSync("package.json")); });`,
      "well.test.ts": `test("well", () => {});`,
    },
    { hangMs: 5_000 * patience() },
  );

  expect(verdict.failures).toEqual([
    { file: "stuck.test.ts", title: "the file itself", error: "it didn't end" },
    {
      file: "",
      title: "an error outside of any test",
      error: expect.stringMatching(/^no test file began or ended for [\d.]+ minutes$/),
    },
  ]);
  expect(lastLine(verdict)).toBe("1 passed, 2 failed");
});

test("[HSE-15] a vitest that is killed keeps what had ended, and names the files that hadn't", async () => {
  const { verdict } = await suiteOf({
    "killed.test.ts": `${KILL_VITEST} test("kills", kill);`,
    "well.test.ts": `test("well", () => {});`,
  });

  expect(verdict).toMatchObject({
    passed: 1,
    failures: [
      { file: "killed.test.ts", error: "it didn't end" },
      { file: "", error: "vitest ended with SIGKILL before all tests had run" },
    ],
  });
});

test("[HSE-15] a vitest that ends with a failure of its own, when every test had passed, fails the run", async () => {
  const { verdict } = await suiteOf({
    "vitest.config.ts": `export default { test: { globalSetup: "./setup.ts" } };`,
    "setup.ts": `export default () => () => { process.exitCode = 3; };`,
    "well.test.ts": `test("well", () => {});`,
  });

  expect(verdict).toMatchObject({ passed: 1, failures: [{ error: "vitest ended with 3 after its last test" }] });
});

test("[HSE-21] a worker that died is named with its file, and so are tests that never got their turn", async () => {
  const { verdict } = await suiteOf({
    "dead.test.ts": `test("dead", () => { process.kill(process.pid, "SIGKILL"); });\ntest("behind it", () => {});`,
  });

  expect(verdict.failures.map(({ title, error }) => `${title}: ${error}`)).toEqual(
    expect.arrayContaining([
      "behind it: it never got its turn",
      expect.stringMatching(/outside of any test: .*Worker exited unexpectedly .*dead\.test\.ts/),
    ]),
  );
});

test("[HSE-21] a test that is skipped without a reason in its title, or passes only when it is tried again, is a failure", async () => {
  const { verdict } = await suiteOf({
    "idle.test.ts": `test("well", () => {});
test.skip("later", () => {});
test("by itself", (it) => it.skip());
test("only there (only with a moon)", (it) => it.skip());
test.todo("some day");
let tries = 0;
test("stubborn", { retry: 3 }, () => expect((tries += 1) % 3).toBe(0));`,
  });

  expect(verdict).toMatchObject({ passed: 1, flaky: [], skipped: [{ title: "only there (only with a moon)" }] });
  expect(verdict.failures.map(({ title, error }) => `${title}: ${error}`)).toEqual([
    "later: it was skipped, and its title doesn't say why",
    "by itself: it was skipped, and its title doesn't say why",
    "some day: it was skipped, and its title doesn't say why",
    "stubborn: it passed only when it was tried again",
  ]);
});

test("[HSE-21] a run in which nothing ran is no green one", async () => {
  const { verdict } = await suiteOf(
    { "none.test.ts": `test("swims (needs fish)", () => {});` },
    { env: { PATH: "/nowhere" } },
  );

  expect([isGreen(verdict), lastLine(verdict)]).toEqual([false, "0 passed, 0 failed"]);
  expect(
    summaryLines({ verdict, left: { files: [], processes: [], others: [], mounts: [], accounts: [] }, seed: "7" }),
  ).toContain("No test ran, so the run failed.");
});

test("[HSE-21] a file that two projects of vitest run is a failure: what one of them found would hide the other", async () => {
  const { verdict } = await suiteOf({
    "vitest.config.ts": `const project = (name) => ({ test: { name, include: ["*.test.ts"], env: { P: name } } });
export default { test: { projects: [project("a"), project("b")] } };`,
    "twice.test.ts": `test("well in a", () => expect(process.env.P).toBe("a"));`,
  });

  expect(verdict.failures).toMatchObject([{ file: "twice.test.ts", error: expect.stringContaining("it ran twice") }]);
});

test("[HSE-21] every hook that failed is told, and what is behind it isn't blamed for its title", async () => {
  const { verdict } = await suiteOf({
    "hooks.test.ts": `import { afterAll, describe } from "vitest";
afterAll(() => { throw new Error("after"); });
describe("a group", () => { beforeAll(() => { throw new Error("before"); }); test("behind", () => {}); });`,
  });

  const errors = verdict.failures.map(({ error }) => error.replace(/ \(.*/, ""));
  expect(errors.toSorted()).toEqual(["Error: after", "Error: before"]);
  expect(skippedLines(verdict.skipped)).toEqual(["skipped 1: behind a hook that failed (1)"]);
});

test("[HSE-21] an error says on its first line where it happened, whatever was thrown", async () => {
  const { verdict } = await suiteOf({
    "odd.test.ts": `test("long", () => { throw new Error("one\\ntwo"); });
test("nothing", () => { throw undefined; });`,
    "late.test.ts": `test("late", async () => { Promise.reject(new Error("unheard")); await new Promise((it) => setTimeout(it, 50)); });`,
    "typo.test.ts": `await import("./broken.ts");\ntest("never", () => {});`,
    "broken.ts": `export const one = 1;\nconst = 2;\n`,
  });

  const told = Object.fromEntries(
    verdict.failures.map(({ file, title, error }) => [`${file} ${title}`, error.split("\n")[0]]),
  );
  expect(told).toMatchObject({
    "odd.test.ts nothing": "undefined",
    "odd.test.ts long": expect.stringMatching(/^Error: one \(.*odd\.test\.ts:\d+:\d+\)$/),
    " an error outside of any test": expect.stringMatching(/unheard .* in .*late\.test\.ts > late/),
    "typo.test.ts the file itself": expect.stringContaining("broken.ts:2"),
  });
});

test("[HSE-28] vitest ends with a runner that is killed outright", async () => {
  using tree = vitestProject({
    "waits.test.ts": `import { writeFileSync } from "node:fs";\nimport { test } from "vitest";
test("waits", async () => { writeFileSync("vitest", String(process.ppid)); await new Promise(() => {}); }, 600_000);`,
  });
  const source = `import { runVitest } from ${JSON.stringify(join(import.meta.dirname, "vitest-run.ts"))};
await runVitest({ root: ${JSON.stringify(tree.root)}, filters: [], output: "ignore" });`;
  const runner = spawn(process.execPath, ["--input-type=module-typescript", "-e", source], {
    stdio: "ignore",
    env: { ...process.env, TMPDIR: tree.root },
  });
  const vitest = await eventually(() => {
    const pid = Number(readFileSync(join(tree.root, "vitest"), "utf8"));
    // The file exists before the number is in it, and process 0 would be ourselves.
    expect(pid).toBeGreaterThan(0);
    return pid;
  });

  runner.kill("SIGKILL");

  await eventually(() => expect(() => process.kill(vitest, 0)).toThrow("ESRCH"));
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
  const { first, verdict } = await suiteOf(
    {
      "none.test.ts": `beforeAll(() => { throw new Error("no fish"); });\ntest("swims (needs fish)", () => {});`,
      "some.test.ts": `test.each([{ program: "fish" }, { program: "node" }])("$program runs (needs $program)", () => {});`,
    },
    { env: { PATH: "/nowhere" } },
  );

  expect([isGreen(verdict), lastLine(verdict), verdict.skipped.length]).toEqual([true, "1 passed, 0 failed", 2]);
  expect(skippedLines(verdict.skipped)).toEqual(["skipped 2: fish is missing; sudo apt-get install fish"]);

  using tree = temporaryTree({});
  const path = join(tree.root, "report.json");
  writeJson(path, "7", { first, verdict });
  const titles = ["swims (needs fish)", "fish runs (needs fish)"];
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ seed: "7", passed: 1, skipped: titles });
});
