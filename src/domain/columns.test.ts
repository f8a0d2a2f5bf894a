import { expect, test } from "vitest";
import { columnsOf, lengthBefore } from "./columns.ts";

test.each([
  { what: "a letter", character: "a", columns: 1 },
  { what: "a letter of Chinese", character: "名", columns: 2 },
  { what: "an emoji", character: "🔑", columns: 2 },
  { what: "an accent of its own", character: "\u0301", columns: 0 },
  { what: "a joiner", character: "\u200D", columns: 0 },
  { what: "a sign for the direction", character: "\u202E", columns: 0 },
  { what: "a soft hyphen", character: "\u00AD", columns: 1 },
])("[PMT-24] $what takes $columns", ({ character, columns }) => {
  expect(columnsOf(character)).toBe(columns);
});

test.each([
  { line: "Name: x", columns: 6, before: "Name: " },
  { line: "Name:", columns: 6, before: "Name: " },
  { line: "名前: ", columns: 6, before: "名前: " },
  { line: "Cafe\u0301? [y/N] ", columns: 11, before: "Cafe\u0301? [y/N]" },
  { line: "\u200B\u200BGo on? ", columns: 7, before: "\u200B\u200BGo on? " },
  { line: "e\u0301x", columns: 1, before: "e\u0301" },
])("[PMT-24] before column $columns of $line stands $before", ({ line, columns, before }) => {
  expect(line.padEnd(lengthBefore(line, columns)).slice(0, lengthBefore(line, columns))).toBe(before);
});
