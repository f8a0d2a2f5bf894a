import { expect, test } from "vitest";
import type { FileReport, RunReport, TestReport } from "./report.ts";
import { lastLine } from "./summary.ts";
import { filesToRepeat, isGreen, judge } from "./verdict.ts";

type States = Readonly<Record<string, TestReport["state"]>>;

function fileOf(states: States, more: Partial<FileReport> = {}): FileReport {
  const tests = Object.entries(states).map(([title, state]) => ({
    title,
    state,
    ms: 1,
    ...(state === "failed" && { error: `${title} broke` }),
  }));
  return { file: "a.test.ts", ms: 1, isLoaded: true, errors: [], tests, ...more };
}

const runOf = (...files: FileReport[]): RunReport => ({ files, unhandled: [] });

test.each([
  {
    what: "all well",
    first: runOf(fileOf({ one: "passed", "two (needs fish)": "skipped" })),
    line: "1 passed, 0 failed",
  },
  {
    what: "a skip without a reason",
    first: runOf(fileOf({ one: "passed", two: "skipped" })),
    line: "1 passed, 1 failed",
  },
  {
    what: "a skip whose reason has brackets, or stands in front of some",
    first: runOf(
      fileOf({ one: "passed", "two (needs fish (3.4 or later))": "skipped", "(only as root) f(a)": "skipped" }),
    ),
    line: "1 passed, 0 failed",
  },
  { what: "an unloadable file", first: runOf(fileOf({}, { isLoaded: false })), line: "0 passed, 1 failed" },
  {
    what: "a fault outside tests",
    first: { ...runOf(fileOf({ one: "passed" })), unhandled: ["!"] },
    line: "1 passed, 1 failed",
  },
  { what: "a runner that broke down", first: { files: [], unhandled: ["no report"] }, line: "0 passed, 1 failed" },
])("[HSE-15] the last line counts $what", ({ first, line }) => {
  expect(lastLine(judge(first))).toBe(line);
});

test("[HSE-20] only files that failed run once more, and not those that can't be loaded", () => {
  const first = runOf(
    fileOf({ one: "passed" }, { file: "well.test.ts" }),
    fileOf({ one: "failed" }, { file: "failed.test.ts" }),
    fileOf({ one: "skipped" }, { file: "hook.test.ts", errors: ["beforeAll"] }),
    fileOf({}, { file: "unloadable.test.ts", isLoaded: false, errors: ["syntax"] }),
  );

  expect(filesToRepeat(first)).toEqual(["failed.test.ts", "hook.test.ts"]);
});

test("[HSE-20, HSE-21] passing alone is flaky and counts as passed, failing twice is a failure", () => {
  const first = runOf(fileOf({ well: "passed", shaky: "failed", broken: "failed" }));
  const again = runOf(fileOf({ well: "passed", shaky: "passed", broken: "failed" }));

  expect(judge(first, again)).toEqual({
    passed: 2,
    skipped: [],
    flaky: [{ file: "a.test.ts", title: "shaky", error: "shaky broke" }],
    failures: [{ file: "a.test.ts", title: "broken", error: "broken broke" }],
  });
});

test("[HSE-21] rows of one title are forgiven only together", () => {
  const row = (state: TestReport["state"]): TestReport => ({ title: "row", state, ms: 1 });
  const first = runOf({ ...fileOf({}), tests: [row("failed"), row("passed")] });
  const again = runOf({ ...fileOf({}), tests: [row("passed"), row("failed")] });

  expect(judge(first, again)).toMatchObject({ passed: 0, flaky: [], failures: [{ title: "row" }] });
});

test("[HSE-21] a row that failed and didn't run again is not forgiven", () => {
  const row = (state: TestReport["state"]): TestReport => ({ title: "row", state, ms: 1 });
  const first = runOf({ ...fileOf({}), tests: [row("failed"), row("passed")] });
  const again = runOf({ ...fileOf({}), tests: [row("passed")] });

  expect(judge(first, again)).toMatchObject({ passed: 0, flaky: [], failures: [{ title: "row" }] });
});

test("[HSE-21] a test that is there only in the second run is judged by that run", () => {
  const first = runOf(fileOf({ one: "failed" }));
  const again = runOf(fileOf({ one: "passed", broken: "failed", well: "passed" }));

  expect(judge(first, again)).toMatchObject({
    passed: 2,
    flaky: [{ title: "one" }],
    failures: [{ file: "a.test.ts", title: "broken", error: "broken broke" }],
  });
});

test("[HSE-21] a file that can't be loaded the second time is not forgiven", () => {
  const first = runOf(fileOf({ one: "passed" }, { errors: ["afterAll broke"] }));
  const again = runOf(fileOf({ one: "passed" }, { isLoaded: false, errors: ["no such thing"] }));

  expect(judge(first, again).failures).toContainEqual({
    file: "a.test.ts",
    title: "the file itself",
    error: "no such thing",
  });
});

test("[HSE-21] rows of one title count one by one towards the flaky ones that are allowed", () => {
  const rows = (state: TestReport["state"]) =>
    runOf({ ...fileOf({}), tests: Array.from({ length: 6 }, () => ({ title: "row", state, ms: 1 })) });
  const verdict = judge(rows("failed"), rows("passed"));

  expect([verdict.flaky.length, isGreen(verdict), lastLine(verdict)]).toEqual([6, false, "6 passed, 1 failed"]);
});

test("[HSE-20] a hook that failed once is flaky, and its tests are what they were alone", () => {
  const first = runOf(fileOf({ well: "skipped", broken: "skipped" }, { errors: ["beforeAll broke"] }));
  const again = runOf(fileOf({ well: "passed", broken: "failed" }));

  expect(judge(first, again)).toEqual({
    passed: 1,
    skipped: [],
    flaky: [{ file: "a.test.ts", title: "a hook of the file", error: "beforeAll broke" }],
    failures: [{ file: "a.test.ts", title: "broken", error: "broken broke" }],
  });
});

test("[HSE-21] a file that didn't come back is not forgiven", () => {
  const verdict = judge(runOf(fileOf({ one: "failed" })), { files: [], unhandled: ["a worker died"] });

  expect(verdict.failures.map(({ title }) => title)).toEqual(["one", "an error outside of any test"]);
});

test.each([
  { count: 5, green: true, line: "5 passed, 0 failed" },
  { count: 6, green: false, line: "6 passed, 1 failed" },
])("[HSE-21] $count flaky tests", ({ count, green, line }) => {
  const titles = Array.from({ length: count }, (_, index) => `test ${index}`);
  const all = (state: TestReport["state"]) => runOf(fileOf(Object.fromEntries(titles.map((it) => [it, state]))));
  const verdict = judge(all("failed"), all("passed"));

  expect([isGreen(verdict), lastLine(verdict)]).toEqual([green, line]);
});
