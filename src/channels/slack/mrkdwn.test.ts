import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutInto, cutToOne, readMrkdwn, writeCode, writeMrkdwn, writePlain } from "./mrkdwn.ts";

describe("writing", () => {
  test("[CHN-70] nothing that a program prints mentions anybody, links or pings", () => {
    expect(writeMrkdwn("<!channel> <@U1> <http://a|b> a && b &amp;").join("")).toBe(
      "&lt;!channel&gt; &lt;@U1&gt; &lt;http://a|b&gt; a &amp;&amp; b &amp;amp;",
    );
  });

  test.each(["```", "````", "a``b", "``````"])("[CHN-71] %s can't end the block it stands in", (code) => {
    const written = writeCode(code).join("");
    expect(written).not.toContain("``");
    expect(written.replaceAll("\u200B", "")).toBe(code);
  });
});

test("[CHN-91] what would hide or turn something is shown as a sign; lines, tabs and emoji stay", () => {
  expect(writeCode("a\u202Eb\u0007c\r\nd\re\tf\u{1F468}\u200D\u{1F469}\uD800").join("")).toBe(
    "a\\u{202e}b\\u{7}c\nd\\u{d}e\tf\u{1F468}\u200D\u{1F469}\uFFFD",
  );
});

describe("cutting", () => {
  test("[CHN-72] what fits into the pieces is all there, cut at lines", () => {
    expect(cutInto(writePlain("one\ntwo\nthree"), { length: 10, begin: 1, end: 1 })).toEqual({
      begin: ["one\ntwo", "three"],
      omitted: 0,
      end: [],
    });
  });

  test.each([
    { begin: 1, end: 1, cut: { begin: ["abcd"], omitted: 4, end: ["ijkl"] } },
    { begin: 0, end: 2, cut: { begin: [], omitted: 4, end: ["efgh", "ijkl"] } },
    { begin: 2, end: 0, cut: { begin: ["abcd", "efgh"], omitted: 4, end: [] } },
  ])("[CHN-72] $begin pieces of the beginning and $end of the end are kept, the rest is counted", (it) => {
    expect(cutInto(writePlain("abcdefghijkl"), { length: 4, begin: it.begin, end: it.end })).toEqual(it.cut);
  });

  test("[CHN-72] no character and no entity is cut, whatever the text and the room", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 8, max: 40 }), (text, length) => {
        const { begin, end, omitted } = cutInto(writeMrkdwn(text), { length, begin: 1, end: 1 });
        const all = [...begin, ...end];
        expect(all.every((it) => JSON.stringify(it).length - 2 <= length)).toBe(true);
        expect(all.join("")).not.toMatch(/&(?!amp;|lt;|gt;)/u);
        expect(all.every((it) => it.isWellFormed())).toBe(true);
        expect(omitted).toBeLessThanOrEqual(writeMrkdwn(text).length);
      }),
    );
  });

  test.each([
    ["short", 5, "short"],
    ["longer", 5, "long…"],
    ["a<<<", 6, "a&lt;…"],
    ["😀😀😀", 4, "😀…"],
  ])("[CHN-72] %s in one line of %i is %s", (text, length, line) => {
    expect(cutToOne(writeMrkdwn(text), length)).toBe(line);
  });
});

test.each([
  ["a &amp;&amp; b &lt; c &gt;&gt; d", "a && b < c >> d"],
  ["&amp;lt;", "&lt;"],
  ["see <https://example.com/?a=1&amp;b=2>", "see https://example.com/?a=1&b=2"],
  ["ping <http://example.com|example.com>", "ping example.com"],
  ["<mailto:ann@example.com|ann@example.com>", "ann@example.com"],
  ["<https://example.com|here>", "https://example.com"],
  ["<@U123> and <@U123|ann>", "@U123 and @ann"],
  ["<#C123|general> <!here> <!subteam^S1|@team>", "#general @here @team"],
  ["  spaces stay  ", "  spaces stay  "],
])("[CHN-81] %j was typed as %j", (told, typed) => {
  expect(readMrkdwn(told)).toBe(typed);
});
