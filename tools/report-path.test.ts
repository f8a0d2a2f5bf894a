import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { judge } from "./suite/verdict.ts";
import { writeJson } from "./suite/run.ts";
import { reportPath } from "./report-path.ts";
import { temporaryTree } from "./temporary-tree.ts";

test("[HSE-29] a report goes to a new file, in new folders too, and over an earlier report", () => {
  using tree = temporaryTree({});
  const path = join(tree.root, "a", "b", "report.json");
  const first = { files: [], unhandled: [] };

  expect(reportPath("--report", path)).toBe(path);
  writeJson(path, "1", { first, verdict: judge(first) });
  const written = readFileSync(path, "utf8");

  expect(reportPath("--report", path)).toBe(path);
  expect(readFileSync(path, "utf8")).toBe(written);
});

test.each([
  { what: "a source", path: "a.ts", content: "export const one = 1;", why: "not an earlier report" },
  { what: "other JSON", path: "a.json", content: `{ "seed": "1" }`, why: "not an earlier report" },
  { what: "nothing", path: "a.json", content: "", why: "not an earlier report" },
  { what: "a folder", path: "a/b", content: "", why: "not an earlier report", given: "a" },
  { what: "a file where a folder should be", path: "a", content: "", why: "ENOTDIR", given: "a/b" },
])("[HSE-29] a report never takes the place of $what", ({ path, content, why, given = path }) => {
  using tree = temporaryTree({ [path]: content });

  expect(() => reportPath("--report", join(tree.root, given))).toThrow(why);
  expect(readFileSync(join(tree.root, path), "utf8")).toBe(content);
});

test("[HSE-29] a report where no file can be is refused at once (only on Linux)", () => {
  expect(() => reportPath("--report", "/proc/x/y")).toThrow("--report /proc/x/y can't be used: ENOENT");
});
