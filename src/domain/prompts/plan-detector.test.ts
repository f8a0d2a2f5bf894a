import { expect, test } from "vitest";
import { decidePlan } from "./plan-decision.ts";
import { detectPlan, EMPTY_SEARCH, PLAN_CHARACTERS_MAX, searchPlan } from "./plan-detector.ts";

const PRINTING = { asking: false, isQuiet: false };
const QUIET = { asking: false, isQuiet: true };
const PLAN = "Here's my plan:\n1. Add a test\n2. Fix the parser\n";

test("[PMT-80] a plan has its heading as title and all steps", () => {
  expect(detectPlan(PLAN)).toEqual({ title: "Here's my plan", steps: ["Add a test", "Fix the parser"] });
});

test("[PMT-81] a menu of verbs is no plan, and nothing is one while a question stands", () => {
  expect(detectPlan("Choose an option:\n1) Install\n2) Update\n3) Remove")).toBeUndefined();
  expect(detectPlan("❯ 1. Create the file in src\n  2. Update the old file\n  3. Delete the old file")).toBeUndefined();
  expect(searchPlan(EMPTY_SEARCH, PLAN, { asking: true, isQuiet: true }).plan).toBeUndefined();
  expect(searchPlan(EMPTY_SEARCH, PLAN, QUIET).plan).toBeDefined();
});

test("[PMT-82] what was done is no plan", () => {
  expect(detectPlan("Here's what I did:\n1. Added a test\n2. Fixed the parser\n3. Updated the docs\n")).toBeUndefined();
});

test("[PMT-83] what is accumulated is bounded, and a plan over several batches is found", () => {
  const noise = searchPlan(EMPTY_SEARCH, "x".repeat(50_000), PRINTING).search;
  expect(noise.text.length).toBe(PLAN_CHARACTERS_MAX);
  const half = searchPlan(noise, `\n${PLAN.slice(0, 30)}`, PRINTING);
  expect(half.plan).toBeUndefined();
  expect(searchPlan(half.search, PLAN.slice(30), QUIET).plan?.steps).toEqual(["Add a test", "Fix the parser"]);
});

test("[PMT-84] the same plan is told once", () => {
  const first = searchPlan(EMPTY_SEARCH, PLAN, QUIET);
  expect(searchPlan(first.search, PLAN, QUIET).plan).toBeUndefined();
});

test.each([
  {
    shape: "heading and numbers",
    text: "My plan:\n\n1. Add a test for it\n2. Fix the parser\n3. Run all the tests\n4. Push",
  },
  { shape: "heading and bullets", text: "## Plan\n- add a test for it\n- fix the parser\n- run all the tests\n- push" },
  {
    shape: "verbs alone",
    text: "So:\n1. Add a test for it\n2. Fix the parser itself\n3. Run all the tests\n4. Update the notes",
  },
])("[PMT-145] a plan that is printed letter by letter is told whole: $shape", ({ text }) => {
  let search = EMPTY_SEARCH;
  for (const letter of text) {
    const found = searchPlan(search, letter, PRINTING);
    expect(found.plan).toBeUndefined();
    search = found.search;
  }

  const found = searchPlan(search, "", QUIET);

  expect(found.plan?.steps).toHaveLength(4);
  expect(found.plan?.steps.at(-1)).toMatch(/push|Push|notes$/);
});

test.each([
  { what: "other lines", text: "one\ntwo\nthree\nfour\n" },
  { what: "another heading", text: "\n## Notes\n" },
  { what: "a long line", text: `\n${"word ".repeat(300)}` },
])("[PMT-145] behind which $what stand, it is whole", ({ text }) => {
  const { search, plan, mayGoOn } = searchPlan(EMPTY_SEARCH, PLAN, PRINTING);

  expect([plan, mayGoOn]).toEqual([undefined, true]);
  expect(searchPlan(search, text, PRINTING).plan?.steps).toEqual(["Add a test", "Fix the parser"]);
});

test("[PMT-85] executing and modifying type nothing", () => {
  expect(decidePlan("execute", false)).toEqual({
    ok: true,
    notice: "Plan accepted. Agent continuing.",
  });
  expect(decidePlan("modify", false)).toEqual({
    ok: true,
    notice: "Send your modifications as a message.",
  });
});

test("[PMT-86] cancelling types its text, but never into a question", () => {
  expect(decidePlan("cancel", false)).toMatchObject({
    line: "Cancel the current plan. Do not proceed with these steps.",
  });
  expect(decidePlan("cancel", true)).toEqual({
    ok: false,
    refusal: "question_open",
    notice: "A question is open. Please answer it first.",
  });
});
