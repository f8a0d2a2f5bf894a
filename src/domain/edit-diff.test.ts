import { expect, test } from "vitest";
import { editDiff } from "./edit-diff.ts";

const shown = (before: string, after: string): string[] =>
  editDiff(before, after).map(({ sign, text }) => `${sign} ${text}`);

test.each([
  { what: "a line", before: "a", after: "b", diff: ["- a", "+ b"] },
  { what: "nothing", before: "a\nb", after: "a\nb", diff: ["  a", "  b"] },
  { what: "one of several", before: "a\nb\nc", after: "a\nx\nc", diff: ["  a", "- b", "+ x", "  c"] },
  { what: "their order", before: "a\nb", after: "b\na", diff: ["- a", "- b", "+ b", "+ a"] },
  { what: "one that is there twice", before: "a\na", after: "a", diff: ["  a", "- a"] },
])("[WEB-41] who changes $what sees just that", ({ before, after, diff }) => {
  expect(shown(before, after)).toEqual(diff);
});
