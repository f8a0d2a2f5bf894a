import { expect, test } from "vitest";
import { ROOT } from "./source-files.ts";
import { specOffences } from "./spec.ts";
import { temporaryTree } from "./temporary-tree.ts";

const SPEC = "# Things\n\n- **AB-1** One.\n- **ABCD-12** Two.\n";

function offencesOf(files: Readonly<Record<string, string>>): string[] {
  using tree = temporaryTree({ "docs/spec/things.md": SPEC, ...files });
  return specOffences(tree.root);
}

const BOTH = `test("[AB-1, ABCD-12] it works", () => {});`;

test("[HSE-8, HSE-9, HSE-10, HSE-11, HSE-12, HSE-23] rules, tests and trace of this project fit together", () => {
  expect(specOffences(ROOT)).toEqual([]);
});

test("[HSE-8] an id that is defined twice is found", () => {
  const offences = offencesOf({ "docs/spec/more.md": "\n- **AB-1** Again.\n", "src/a.test.ts": BOTH });

  expect(offences).toEqual(["docs/spec/things.md:3 AB-1 is already defined at docs/spec/more.md:2"]);
});

test.each(["- **ab-1** small", "  - **AB-2** indented", "* **AB-2** star", "- **ABCDE-1** long", "- **AB-2.** dot"])(
  "[HSE-8] a line that only looks like a rule is found: %s",
  (line) => {
    const offences = offencesOf({ "docs/spec/more.md": line, "src/a.test.ts": BOTH });

    expect(offences).toEqual(["docs/spec/more.md:1 is not a rule: write - **ABC-12** at the line's start"]);
  },
);

test.each([
  { form: "test", source: BOTH },
  { form: "it", source: `it("[AB-1, ABCD-12] it works", () => {});` },
  { form: "describe", source: `describe("[AB-1, ABCD-12] things", () => {});` },
  { form: "each", source: `test.each([1, 2])("[AB-1, ABCD-12] %s works", () => {});` },
  { form: "each with a table", source: "test.each`a\n${1}`('[AB-1, ABCD-12] $a works', () => {});" },
  { form: "for", source: `it.for([1])("[AB-1, ABCD-12] %s works", () => {});` },
  { form: "skipIf", source: `test.skipIf(x).each([1])("[AB-1, ABCD-12] works (needs root)", () => {});` },
  { form: "template", source: "test(`[AB-1, ABCD-12] ${name} works`, () => {});" },
  { form: "extended", source: `const withHub = test.extend({});\nwithHub("[AB-1, ABCD-12] works", () => {});` },
])("[HSE-9] a rule is cited by a title: $form", ({ source }) => {
  expect(offencesOf({ "test/a.test.ts": source })).toEqual([]);
  expect(offencesOf({ "src/deep/a.contract.ts": source })).toEqual([]);
});

test.each([
  { what: "no test", source: "" },
  { what: "a commented one", source: `// ${BOTH}` },
  { what: "one that never runs", source: `test.skip("[AB-1, ABCD-12] works (skipped: slow)", () => {});` },
  { what: "a planned one", source: `test.todo("[AB-1, ABCD-12] works (skipped: later)");` },
  { what: "one in a suite that never runs", source: `describe.skip("all (skipped: slow)", () => { ${BOTH} });` },
])("[HSE-9] a rule without a test is found: $what", ({ source }) => {
  expect(offencesOf({ "src/a.test.ts": source })).toEqual([
    "docs/spec/things.md:3 AB-1 is cited by no test",
    "docs/spec/things.md:4 ABCD-12 is cited by no test",
  ]);
});

test.each([
  "test.each([])",
  "it.for([] as const)",
  "describe.concurrent.each<Row>([])",
  "test.each`a | b`",
  `test["each"]([])`,
])("[HSE-9] a table without rows proves nothing: %s", (table) => {
  const offences = offencesOf({ "src/a.test.ts": `${table}("[AB-1, ABCD-12] works", () => {});` });

  expect(offences).toEqual([
    'src/a.test.ts:1 "[AB-1, ABCD-12] works" has a table without rows: it never runs',
    "docs/spec/things.md:3 AB-1 is cited by no test",
    "docs/spec/things.md:4 ABCD-12 is cited by no test",
  ]);
});

test.each([
  "src/a.test.tsx",
  "src/a.spec.ts",
  "src/.b/a.test.ts",
  "test/.a.test.ts",
  "bench/a.test.ts",
  "a.test.mjs",
  "src/b/__tests__/a.ts",
])("[HSE-9] a file that looks like one of tests and never runs is found: %s", (path) => {
  const offences = offencesOf({
    "src/a.test.ts": BOTH,
    "node_modules/b/b.test.js": "",
    ".trees/b/a.test.js": "",
    [path]: BOTH,
  });

  expect(offences).toEqual([
    `${path} never runs: call it name.test.ts, in a folder of src, test or tools without a dot`,
  ]);
});

test("[HSE-9] a rule about speed may name the benchmark that judges it instead", () => {
  const spec = "- **AB-1** One takes 5 ms: `npm run bench -- one`.\n- **AB-2** Two too: `npm run bench -- two`.\n";

  expect(offencesOf({ "docs/spec/things.md": spec, "bench/one.ts": "" })).toEqual([
    "docs/spec/things.md:2 AB-2 is cited by no test, and there is no bench/two.ts",
  ]);
});

test("[HSE-9] a title that cites an unknown rule is found", () => {
  const offences = offencesOf({ "src/a.test.ts": `${BOTH}\ndescribe("[AB-1, AB-7] things", () => {});` });

  expect(offences).toEqual(['src/a.test.ts:2 "[AB-1, AB-7] things" cites AB-7, which no page of docs/spec defines']);
});

test.each([
  "works",
  "[AB-1]works",
  "[ab-1] works",
  "[AB-1,ABCD-12] works",
  "[AB-1] [ABCD-12] works",
  "works [AB-1]",
  "[AB-1] ",
])("[HSE-10] a title that does not begin with an id is found: %s", (title) => {
  const offences = offencesOf({ "src/a.test.ts": `${BOTH}\ntest("${title}", () => {});` });

  expect(offences).toEqual([`src/a.test.ts:2 "${title}" does not begin with a rule id: [ABC-12] or [ABC-12, ABC-13]`]);
});

test("[HSE-10] a variable that is called like a test is none", () => {
  const offences = offencesOf({ "src/a.test.ts": `${BOTH}\nlist.filter((it) => it.roles.includes(role));` });

  expect(offences).toEqual([]);
});

test("[HSE-10] a parameter that is called like a test is none where only test is imported", () => {
  const ended = `new Promise((it) => child.on("close", (code, signal) => it(signal ?? code)));`;
  const offences = offencesOf({ "src/a.test.ts": `import { test } from "vitest";\n${BOTH}\n${ended}` });

  expect(offences).toEqual([]);
});

test.each([
  { source: `import { it as check } from "vitest";`, what: "calls `it` `check`: keep its name" },
  {
    source: `import { expect as it } from "vitest";`,
    what: "imports `it`, which is not vitest's: import it from vitest",
  },
  { source: `import { test } from "./b.ts";`, what: "imports `test`, which is not vitest's: import it from vitest" },
  { source: `export { it as check } from "vitest";`, what: "exports `it`: import it from vitest" },
  { source: "const check = test.skipIf(x);", what: "gives `test` another name: call it where it stands" },
  { source: "const { only } = describe;", what: "gives `describe` another name: call it where it stands" },
  ...[
    `import * as check from "vitest";`,
    `import check from "vitest";`,
    `export * from "vitest";`,
    `const check = await import("vitest");`,
  ].map((source) => ({ source, what: 'takes vitest as a whole: write `import { test } from "vitest"`' })),
])("[HSE-10] a test under another name is found: $source", ({ source, what }) => {
  const offences = offencesOf({ "src/a.test.ts": source, "src/b.test.ts": BOTH });

  expect(offences).toEqual([`src/a.test.ts:1 ${what}`]);
});

test.each([
  {
    source: `test[form]("[AB-1] works", () => {});`,
    what: "has a form that can't be read: write `test.each`, not `test[form]`",
  },
  { source: `test("[AB-1] works", OPTIONS, () => {});`, what: "has options that can't be read: write them out" },
  { source: `test("[AB-1] works", { ...OPTIONS }, () => {});`, what: "has options that can't be read: write them out" },
])("[HSE-10] a test that can't be read is found: $source", ({ source, what }) => {
  expect(offencesOf({ "src/a.test.ts": source, "src/b.test.ts": BOTH })).toEqual([
    `src/a.test.ts:1 "[AB-1] works" ${what}`,
  ]);
});

test.each([`{ retry: 3 }`, `{ "retry": RETRIES }`])("[HSE-11] retries are refused: %s", (options) => {
  const offences = offencesOf({ "src/a.test.ts": `${BOTH}\ntest("[AB-1] works", ${options}, () => {});` });

  expect(offences).toEqual([
    'src/a.test.ts:2 "[AB-1] works" is tried again: a test that fails is a defect, so take `retry` out',
  ]);
});

test.each([
  { what: "a colon", need: "(needs: fish)", told: "(needs: fish)" },
  { what: "brackets inside", need: "(needs fish (3.6))", told: "(needs fish (3.6))" },
  { what: "a word", need: "(needs fisch)", told: "fisch" },
])("[HSE-23] a need that can't be known is found: $what", ({ need, told }) => {
  const offences = offencesOf({ "src/a.test.ts": `${BOTH}\ntest("[AB-1] works ${need}", () => {});` });

  expect(offences).toEqual([
    `src/a.test.ts:2 "[AB-1] works ${need}" needs what tools/suite/needs.ts doesn't know: ${told}`,
  ]);
});

test("[HSE-10] a title that can't be read is found; a describe needs no id", () => {
  const offences = offencesOf({ "src/a.test.ts": `${BOTH}\ntest(title, () => {});\ndescribe("things", () => {});` });

  expect(offences).toEqual(["src/a.test.ts:2 has a title that can't be read: write it out"]);
});

test.each([
  `test.skip("[AB-1] works", () => {});`,
  `test.skipIf(x)("[AB-1] works", () => {});`,
  `test.runIf(x).each([1])("[AB-1] works", () => {});`,
  `test.todo("[AB-1] works");`,
  `test("[AB-1] works", { skip: true }, () => {});`,
  `test("[AB-1] works", { skip: slow }, () => {});`,
])("[HSE-11] a skipped test without a reason is found: %s", (source) => {
  const offences = offencesOf({ "src/a.test.ts": `${BOTH}\n${source}` });

  expect(offences).toEqual([
    'src/a.test.ts:2 "[AB-1] works" may be skipped: say why in its title, as (needs …), (only …) or (skipped: …)',
  ]);
});

test.each(["test.only", `test["only"]`])("[HSE-11] only is refused: %s", (only) => {
  const offences = offencesOf({ "src/a.test.ts": `${BOTH}\n${only}("[AB-1] works", () => {});` });

  expect(offences).toEqual(['src/a.test.ts:2 "[AB-1] works" is marked only: the others would not run']);
});

test("[HSE-12] a trace row names rules, a plan or a reason", () => {
  const trace = [
    "| id | requirement | rule |",
    "| --- | --- | --- |",
    "| 000.1 | fine | AB-1, ABCD-12 |",
    "| 000.2 | fine | AB-1; planned: terminals |",
    "| 000.3 | fine | n/a — another language |",
    "| 000.3 | twice | AB-1 |",
    "| 000.4 | unknown | AB-9 |",
    "| 000.5 | nowhere | planned: moon |",
    "| 000.6 | no reason | n/a |",
    "| 000.7 | empty | |",
    "| 000.8 | AB-1 |",
  ].join("\n");

  expect(offencesOf({ "docs/spec/trace.md": trace, "src/a.test.ts": BOTH })).toEqual([
    "docs/spec/trace.md:6 000.3 stands twice",
    "docs/spec/trace.md:7 000.4 names AB-9, which is not defined",
    "docs/spec/trace.md:8 000.5 is planned for an unknown area: moon",
    "docs/spec/trace.md:9 000.6 names neither rules, nor `planned: <area>`, nor `n/a — <reason>`: n/a",
    "docs/spec/trace.md:10 000.7 names neither rules, nor `planned: <area>`, nor `n/a — <reason>`: ",
    "docs/spec/trace.md:11 000.8 is not a row of three cells",
    "docs/spec/trace.md:11 000.8 names neither rules, nor `planned: <area>`, nor `n/a — <reason>`: ",
  ]);
});
