import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MUTANTS } from "./mutants/list.ts";
import { mutated } from "./mutants.ts";
import { filesIn, ROOT } from "./source-files.ts";

test.each(MUTANTS)("[HSE-18] `$name` can still be put into its file", (mutant) => {
  const source = readFileSync(join(ROOT, mutant.file), "utf8");

  expect(mutated(source, mutant)).toBeDefined();
});

test("[HSE-18] the tests that must catch a fault are there, and each fault has a name of its own", () => {
  const tests = filesIn(ROOT, "{src,test,tools}/**/*.test.ts");
  const missing = MUTANTS.flatMap((it) => it.tests).filter((name) => !tests.some((path) => path.startsWith(name)));

  expect(missing).toEqual([]);
  expect(new Set(MUTANTS.map((it) => it.name)).size).toBe(MUTANTS.length);
});

test("[HSE-18] a fault whose text stands nowhere or twice is no fault", () => {
  expect(mutated("a b", { text: "b", becomes: "c" })).toBe("a c");
  expect(mutated("a", { text: "b", becomes: "c" })).toBeUndefined();
  expect(mutated("b b", { text: "b", becomes: "c" })).toBeUndefined();
});
