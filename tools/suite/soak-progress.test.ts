import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { temporaryTree } from "../temporary-tree.ts";
import { stateOf } from "./left-processes.ts";
import type { FileReport } from "./report.ts";
import { runSuite, type SuiteRun } from "./run.ts";
import { beginProgress, endSoak, lockSoak, readProgress, resumeLine, soakPage } from "./soak-progress.ts";
import { judge } from "./verdict.ts";
import { KILL_VITEST, vitestProject } from "./vitest-project.ts";

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
  const lines = [...done, unloadable].map((ended) => `${JSON.stringify({ ended, unhandled: [`in ${ended.file}`] })}\n`);
  const started = `{"started":"d.test.ts"}\n`;
  // The first soak was cut off while it wrote a line, and so was the one that resumed it.
  appendFileSync(path, `${lines[0]}${started}{"ended":"d.test${started}${lines[1]}${lines[2]}{"ended":"d.test`);

  expect(readProgress(path, "abc")).toEqual({
    head: HEAD,
    finished: { files: done, unhandled: ["in a.test.ts", "in b.test.ts", "in c.test.ts"] },
  });
});

test("[HSE-27] one soak at a time has the checkout, and one that was killed has it no more", async () => {
  using tree = temporaryTree({});
  const lock = join(tree.root, "cache", "soak.lock");
  const release = lockSoak(lock);
  if (typeof release === "string") throw new Error(release);

  expect(lockSoak(lock)).toBe(`A soak runs in this checkout already (process ${process.pid}).`);
  release();
  writeFileSync(lock, `${process.pid} 1`);
  expect(lockSoak(lock)).toBeTypeOf("function");
  const dead = await unreaped();
  writeFileSync(lock, `${dead} ${stateOf(dead)?.beganAt}`);
  expect(lockSoak(lock)).toBeTypeOf("function");
});

/** A process that has ended, and whose parent never asks for it: so it stays where nothing in a container does. */
async function unreaped(): Promise<number> {
  const script = "sleep 1000 >/dev/null & echo $!; exec sleep 1000 >&2";
  const parent = spawn("sh", ["-c", script], { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void parent.kill("SIGKILL"));
  const pid = Number(await text(parent.stdout));
  process.kill(pid, "SIGKILL");
  await eventually(() => expect(stateOf(pid)?.isDead).toBe(true));
  return pid;
}

test("[HSE-27] a new soak keeps what an interrupted one had done", () => {
  using tree = temporaryTree({});
  const path = join(tree.root, "soak.jsonl");
  beginProgress(path, HEAD);
  appendFileSync(path, `${JSON.stringify({ ended: report("a.test.ts", "passed"), unhandled: [] })}\n`);

  expect(resumeLine(path, 3)).toMatch(/^1 of 3 files are done\./);
  expect(beginProgress(path, HEAD).finished.files).toEqual([]);
  expect(readFileSync(`${path}.before`, "utf8")).toContain("a.test.ts");
});

test("[HSE-27] a soak whose files are all done runs only the failed ones again", async () => {
  using tree = vitestProject({
    "a.test.ts": `import { test } from "vitest"; test("it", () => { throw new Error("ran again"); });`,
    "b.test.ts": `import { test } from "vitest"; test("it", () => {});`,
  });
  const earlier = { files: [report("a.test.ts", "passed"), report("b.test.ts", "failed")], unhandled: [] };

  const { verdict } = await runSuite({ root: tree.root, filters: [], output: "ignore" }, { earlier });

  expect(verdict).toMatchObject({ passed: 2, failures: [], flaky: [{ file: "b.test.ts", title: "it" }] });
});

test("[HSE-27] a soak that was killed goes on in the same file, and runs again what hadn't ended", async () => {
  const imports = `import { test } from "vitest";`;
  using tree = vitestProject({
    "a.test.ts": `${imports} test("it", () => {});`,
    "b.test.ts": `${imports} ${KILL_VITEST} test("it", () => process.env.IS_RESUMED === "1" ? undefined : kill());`,
  });
  const progress = join(tree.root, "soak.jsonl");
  const run = { root: tree.root, filters: [], output: "ignore", progress } as const;
  beginProgress(progress, HEAD);
  await runSuite(run);

  const resumed = readProgress(progress, HEAD.commit);
  if (typeof resumed === "string") throw new Error(resumed);
  expect(resumed.finished).toMatchObject({ files: [{ file: "a.test.ts" }], unhandled: [] });
  const { first, verdict } = await runSuite(
    { ...run, filters: [join(tree.root, "b.test.ts")], env: { IS_RESUMED: "1" } },
    { earlier: resumed.finished, expected: ["a.test.ts", "b.test.ts"] },
  );

  expect([first.files.map(({ file }) => file), first.cutOff]).toEqual([["a.test.ts", "b.test.ts"], undefined]);
  expect(verdict).toMatchObject({ passed: 2, failures: [] });
});

/** Of one file that passed. */
function wholeRun(more: Partial<SuiteRun> = {}): SuiteRun {
  const first = { files: [report("a.test.ts", "passed")], unhandled: [] };
  return { first, verdict: judge(first), notRun: [], ...more };
}

test("[HSE-27] when its page is written, a soak can't be resumed any more", () => {
  using tree = temporaryTree({});
  const paths = { page: join(tree.root, "page.md"), progress: join(tree.root, "soak.jsonl") };
  beginProgress(paths.progress, HEAD);

  const said = endSoak(paths, { head: HEAD, run: wholeRun(), commit: HEAD.commit, endedAt: new Date(0) });

  expect(said).toBe(`result: ${paths.page}`);
  expect(readFileSync(paths.page, "utf8")).toContain("1 passed, 0 failed");
  expect(readProgress(paths.progress, HEAD.commit)).toContain("There is no soak to resume.");
});

test.each([
  {
    what: "a file didn't run",
    run: wholeRun({ notRun: ["b.test.ts"] }),
    commit: "abc",
    why: "files that didn't run: b",
  },
  {
    what: "a file didn't end",
    run: wholeRun({ first: { files: [], unhandled: [], cutOff: "timed out" } }),
    commit: "abc",
    why: "not every file ran to its end",
  },
  { what: "its files changed", run: wholeRun(), commit: "new", why: "it began with abc, and this is new" },
])("[HSE-27] the page of a soak is not written when $what, and it says so", ({ run, commit, why }) => {
  using tree = temporaryTree({});
  const paths = { page: join(tree.root, "page.md"), progress: join(tree.root, "soak.jsonl") };
  beginProgress(paths.progress, HEAD);

  expect(endSoak(paths, { head: HEAD, run, commit, endedAt: new Date(0) })).toContain(`page.md stays as it is: ${why}`);
  expect([existsSync(paths.page), existsSync(paths.progress)]).toEqual([false, true]);
});

test.each([
  { what: "nothing", soak: "", commit: "abc", said: "There is no soak to resume." },
  {
    what: "another commit's",
    soak: `{"commit":"old"}\n`,
    commit: "abc",
    said: "That soak was of old, and this is abc.",
  },
  { what: "that of no known commit", soak: `{"commit":"no git"}\n`, commit: undefined, said: "Git doesn't tell" },
])("[HSE-27] a soak doesn't go on with $what", ({ soak, commit, said }) => {
  using tree = temporaryTree({ soak });

  expect(readProgress(join(tree.root, "soak"), commit)).toContain(said);
});

test("[HSE-27] the page says when, of what, with which seed, how long and with what result", () => {
  const first = { files: [report("a.test.ts", "passed", 90_000), report("b.test.ts", "failed")], unhandled: [] };
  const verdict = judge(first, { files: [report("b.test.ts", "passed")], unhandled: [] });
  const run = { first, verdict, notRun: [] };

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
