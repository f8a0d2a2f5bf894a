import { expect, test } from "vitest";
import { ERRORS } from "../src/protocol/errors.ts";
import { operationNames } from "../src/protocol/operations.ts";
import { fieldsOf } from "./json-schema-text.ts";
import { referenceFiles, referenceOffences } from "./reference.ts";
import { ROOT } from "./source-files.ts";
import { temporaryTree } from "./temporary-tree.ts";

const files = referenceFiles();
const inPlace = Object.fromEntries(Object.entries(files).map(([name, content]) => [`docs/reference/${name}`, content]));

test("[HSE-13] the reference on disk is what the code says", () => {
  expect(referenceOffences(ROOT)).toEqual([]);
});

test("[HSE-13] a file that differs or is missing is found", () => {
  const { "docs/reference/events.md": _missing, ...others } = inPlace;
  using tree = temporaryTree({ ...others, "docs/reference/errors.md": `${files["errors.md"]} ` });

  expect(referenceOffences(tree.root)).toEqual([
    "docs/reference/errors.md is not up to date: npm run reference",
    "docs/reference/events.md is not up to date: npm run reference",
  ]);
});

test("[HSE-13] every operation and every error has its place", () => {
  const headings = [...(files["operations.md"] ?? "").matchAll(/^## (.+)$/gm)].map((match) => match[1]);
  const codes = [...(files["errors.md"] ?? "").matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);

  expect(headings).toEqual([...operationNames]);
  expect(codes).toEqual(Object.keys(ERRORS));
});

test("[HSE-13] a field is told with its type, its bounds and what it is for", () => {
  const fields = fieldsOf({
    required: ["a"],
    properties: {
      a: { type: "integer", minimum: 1, maximum: 9, description: "How many" },
      b: { type: "array", items: { type: "string", format: "uuid" }, default: [] },
      c: { type: "object", properties: { d: { anyOf: [{ const: "x" }, { type: "null" }] } } },
      e: { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
    },
  });

  expect(fields).toEqual([
    { name: "a", type: "integer, 1 to 9", required: true, note: "How many." },
    { name: "b", type: "list of UUID", required: false, note: "Default: `[]`." },
    { name: "c", type: "object", required: false, note: "" },
    { name: "c.d", type: "`x` or null", required: false, note: "" },
    { name: "e", type: "integer", required: false, note: "" },
  ]);
});
