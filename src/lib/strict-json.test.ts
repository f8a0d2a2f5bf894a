import fc from "fast-check";
import { expect, test } from "vitest";
import { parseStrictJson, parseStrictJsonText } from "./strict-json.ts";

test("[HTP-3] what JSON.parse reads from any value, the strict parser reads too", () => {
  const keys = fc.string().filter((key) => key !== "__proto__");
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("value")),
      fc.dictionary(keys, tie("value")),
    ),
  }));
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 2, "\t"), (it, indent) => {
      const text = JSON.stringify(it, null, indent);
      expect(parseStrictJsonText(text)).toEqual(JSON.parse(text));
    }),
  );
});

test.each([
  ['{"role":"agent","role":"user"}', "stands twice"],
  ['{"a":1,"\\u0061":2}', "stands twice"],
  ['{"x":[{"a":1},{"b":{"c":1,"c":2}}]}', "stands twice"],
  ['{"__proto__":{"isAdmin":true}}', "__proto__"],
  ['{"\\u005f_proto__":1}', "__proto__"],
  [`[${"0,".repeat(60_000)}0]`, "more than 50000 values"],
  [`${"[".repeat(65)}${"]".repeat(65)}`, "deeper than 64"],
  [`${'{"a":'.repeat(65)}1${"}".repeat(65)}`, "deeper than 64"],
  ['{"a":1} x', "not valid JSON"],
  ["{'a':1}", "not valid JSON"],
  ["", "not valid JSON"],
])("[HTP-3] %s is refused: %s", (text, reason) => {
  expect(() => parseStrictJsonText(text)).toThrow(reason);
});

test.each([
  '{"a":{"x":1},"b":{"x":2}}',
  '[{"a":1},{"a":2}]',
  '{"a":"\\"a\\":1,\\"a\\":2"}',
  '{"a":"{","b":"}"}',
  `${"[".repeat(64)}${"]".repeat(64)}`,
])("[HTP-3] %s is fine", (text) => {
  expect(parseStrictJsonText(text)).toEqual(JSON.parse(text));
});

test("[HTP-3] bytes that aren't UTF-8 are refused", () => {
  expect(() => parseStrictJson(Uint8Array.of(0x22, 0xff, 0x22))).toThrow("not valid UTF-8");
});
