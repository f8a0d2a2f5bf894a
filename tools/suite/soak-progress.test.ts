import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryTree } from "../temporary-tree.ts";
import type { FileReport } from "./report.ts";
import { beginProgress, readProgress, soakPage } from "./soak-progress.ts";
import { judge } from "./verdict.ts";

const HEAD = { commit: "abc", seed: "7", beganAt: "2026-11-18T08:00:00.000Z" };

function report(file: string, state: "passed" | "failed", ms = 1_000): FileReport {
  return { file, ms, isLoaded: true, errors: [], tests: [{ title: "it", state, ms }] };
}

test("[HSE-27] a soak that was cut off goes on after the files that passed", () => {
  using tree = temporaryTree({});
  const path = join(tree.root, "cache", "soak.jsonl");
  beginProgress(path, HEAD);
  const lines = [report("a.test.ts", "passed"), report("b.test.ts", "failed")].map((it) => `${JSON.stringify(it)}\n`);
  appendFileSync(path, `${lines.join("")}{"file":"c.test`);

  expect(readProgress(path, "abc")).toEqual({ head: HEAD, finished: [report("a.test.ts", "passed")] });
});

test.each([
  { what: "nothing", soak: "", said: "There is no soak to go on with." },
  { what: "another commit's", soak: `{"commit":"old"}\n`, said: "That soak was of old, and this is abc." },
])("[HSE-27] a soak doesn't go on with $what", ({ soak, said }) => {
  using tree = temporaryTree({ soak });

  expect(readProgress(join(tree.root, "soak"), "abc")).toContain(said);
});

test("[HSE-27] the page says when, of what, with which seed, how long and with what result", () => {
  const first = { files: [report("a.test.ts", "passed", 90_000), report("b.test.ts", "failed")], unhandled: [] };
  const run = { first, verdict: judge(first, { files: [report("b.test.ts", "passed")], unhandled: [] }) };

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
