import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ageOf } from "./age.ts";
import { resolveId, shortener } from "./ids.ts";
import { durationSeconds } from "./options.ts";
import { printable, printableJson } from "./printable.ts";
import { suggest } from "./suggest.ts";
import { renderTable } from "./table.ts";
import { fit, widthOf } from "./width.ts";

const SAFE = /^[^\p{C}\p{Zl}\p{Zp}]*$/u;
const hostile = fc.string({ unit: "binary" });

test("[CLI-6] nothing that a terminal would obey is left", () => {
  expect(printable("a\u001b[31m\u009b2J\u202eb\u0007\nü✓")).toBe(String.raw`a\e[31m\u{9b}2J\u{202e}b\u{7}\nü✓`);
  fc.assert(fc.property(hostile, (text) => SAFE.test(printable(text))));
});

test("[CLI-6] JSON holds nothing unsafe and means the same", () => {
  fc.assert(
    fc.property(fc.anything({ key: hostile, values: [hostile], maxDepth: 2 }), (value) => {
      const plain = JSON.stringify({ value });
      const safe = printableJson({ value }, 2);

      expect(safe.replaceAll("\n", "")).toMatch(SAFE);
      expect(JSON.parse(safe)).toEqual(JSON.parse(plain));
    }),
  );
});

const COLUMNS = [
  { title: "ID", value: ([id = ""]: string[]) => id },
  { title: "TITLE", value: ([, title = ""]: string[]) => title, shrinks: true },
];

test("[CLI-5] without a terminal nothing is cut", () => {
  const rows = [
    ["1", "short"],
    ["22", "x".repeat(100)],
  ];

  expect(renderTable(COLUMNS, rows)).toBe(`ID  TITLE\n1   short\n22  ${"x".repeat(100)}`);
});

test("[CLI-5] long columns give way, wide characters count twice", () => {
  const rows = [
    ["1", "日本語日本語日本語"],
    ["22", "a title that is far too long"],
  ];

  expect(renderTable(COLUMNS, rows, 18)).toBe("ID  TITLE\n1   日本語日本語…\n22  a title that …");
});

test("[CLI-5] where no table fits, a row is lines of its own", () => {
  const rows = [
    ["a-very-long-id-that-stays", "one"],
    ["b", "two"],
  ];

  expect(renderTable(COLUMNS, rows, 20)).toBe("ID     a-very-long-…\nTITLE  one\n\nID     b\nTITLE  two");
});

test("[CLI-5] no line is wider than the terminal", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(hostile, hostile), { minLength: 1 }),
      fc.integer({ min: 1, max: 100 }),
      (rows, width) => {
        const lines = renderTable(COLUMNS, rows, width).split("\n");

        expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(width);
      },
    ),
  );
});

test.each([
  ["abc", 3, "abc"],
  ["abcd", 3, "ab…"],
  ["日本", 3, "日…"],
  ["abc", 1, "…"],
  ["abc", 0, ""],
] as const)("[CLI-5] %s in %i columns is %s", (text, width, expected) => {
  expect(fit(text, width)).toBe(expected);
});

test.each([
  ["sesions", "sessions"],
  ["evnets", "events"],
  ["tok", "token"],
  ["approove", "approve"],
  ["xyzzy", undefined],
] as const)("[CLI-2] %s may mean %s", (typed, expected) => {
  expect(suggest(typed, ["sessions", "events", "token", "approve", "approvals"])).toBe(expected);
});

const A = "aaaaaaaa-0000-4000-8000-000000000001";
const B = "aaaaaaaa-0000-4000-8000-000000000002";
const C = "cccccccc-0000-4000-8000-000000000003";

test.each([
  { ids: [A, C], short: ["aaaaaaaa", "cccccccc"] },
  { ids: [A, B], short: [A, B] },
  { ids: [`${A}.12`, `${A}.40`], short: ["aaaaaaaa.12", "aaaaaaaa.40"] },
])("[CLI-9] $ids are shown as $short", ({ ids, short }) => {
  expect(ids.map(shortener(ids))).toEqual(short);
});

test.each([
  { given: "c", id: C },
  { given: "CCCC", id: C },
  { given: A, id: A },
])("[CLI-9] $given is $id", async ({ given, id }) => {
  expect(await resolveId(given, "session", async () => [A, B, C])).toBe(id);
});

test.each(["cccccccc.12", "c.12", `${C}.12`, "cccccccc-0000"])("[CLI-9] %s is a question", async (given) => {
  expect(await resolveId(given, "question", async () => [`${C}.12`, `${B}.12`, `${A}.1`])).toBe(`${C}.12`);
});

test.each([
  { given: "aaaa", message: `"aaaa" is the begin of 2 ids (${A}, ${B}); give more of it.` },
  { given: "d", message: 'No session has an id that begins with "d".' },
  { given: "", message: 'No session has an id that begins with "".' },
])('[CLI-9] "$given" is refused', async ({ given, message }) => {
  await expect(resolveId(given, "session", async () => [A, B, C])).rejects.toThrow(message);
});

test.each([
  ["90s", 90],
  ["30m", 1800],
  ["12h", 43_200],
  ["30d", 2_592_000],
  ["4w", 2_419_200],
] as const)("[CLI-2] %s is %i seconds", (text, seconds) => {
  expect(durationSeconds(text, "--expires")).toBe(seconds);
});

test.each(["", "0d", "-1d", "1.5h", "30", "d", "1y", "99999999999999999w"])("[CLI-2] %s is no time", (text) => {
  expect(() => durationSeconds(text, "--expires")).toThrow("--expires is");
});

test.each([
  [0, "0s"],
  [59_999, "59s"],
  [60_000, "1m"],
  [7_200_000, "2h"],
  [86_400_000 * 400, "400d"],
  [-5000, "0s"],
] as const)("[CLI-5] %i ms ago is %s", (elapsedMs, age) => {
  const then = Date.parse("2026-01-01T00:00:00.000Z");
  expect(ageOf("2026-01-01T00:00:00.000Z", then + elapsedMs)).toBe(age);
});
