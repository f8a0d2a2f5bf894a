import { Buffer } from "node:buffer";
import fc from "fast-check";
import { expect, test } from "vitest";
import { SEED } from "../../test/crash/seeded.ts";
import { displayText } from "./display-text.ts";

const ROOM = { headBytes: 10_000, tailBytes: 10_000 };

test.each([
  ["a progress bar", " 10%\r 50%\r100%\r\ndone\r\n", "100%\ndone\n"],
  ["a shorter overwrite", "downloading\rok\x1b[K\r\n", "ok\n"],
  ["an overwrite that leaves the rest", "abcdef\rXY\r\n", "XYcdef\n"],
  ["a line cleared with spaces", "working...\r          \rdone\r\n", "done\n"],
  ["a column move", "abc\x1b[1GX\x1b[2CY\x1b[1DZ", "XbcZ"],
  ["an erased line", "abc\x1b[2K\rxy\n", "xy\n"],
  ["an erased begin", "abc\x1b[1Kd\n", "   d\n"],
  ["backspaces", "abx\bc\n", "abc\n"],
  ["sequences", "\x1b[31mré\x1b[0m\x1b]0;t\x07d\u009b1m!\n", "réd!\n"],
  ["no last newline", "a\r\nb", "a\nb"],
  ["nothing", "", ""],
])("[WAI-23] %s shows its last state", (_name, raw, text) => {
  expect(displayText(Buffer.from(raw), ROOM)).toEqual({ text, omitted: 0, omittedRanges: [] });
});

test("[WAI-24] of long output the begin and the end are shown in whole lines, and what is left out is told", () => {
  const lines = Array.from({ length: 100 }, (_, at) => `line ${String(at).padStart(2, "0")}\r\n`);
  const shown = displayText(Buffer.from(lines.join("")), { headBytes: 20, tailBytes: 20 });
  expect(shown).toEqual({
    text: "line 00\nline 01\n… 864 bytes left out …\nline 98\nline 99\n",
    omitted: 864,
    omittedRanges: [[18, 882]],
  });
});

test("[WAI-24] a line that is too long by itself is cut inside", () => {
  const shown = displayText(Buffer.from(`${"ä".repeat(100)}${"z".repeat(100)}`), { headBytes: 11, tailBytes: 5 });
  expect(shown).toEqual({
    text: "äääää\n… 285 bytes left out …\nzzzzz",
    omitted: 285,
    omittedRanges: [[10, 295]],
  });
});

test("[WAI-24] with room on one side only, the note is left to the caller", () => {
  const output = Buffer.from("aaaa\nbbbb\ncccc\n");
  expect(displayText(output, { headBytes: 6, tailBytes: 0 })).toMatchObject({ text: "aaaa\n", omitted: 10 });
  expect(displayText(output, { headBytes: 0, tailBytes: 6 })).toMatchObject({ text: "cccc\n", omitted: 10 });
});

test("[WAI-25] the text never exceeds its budget by more than the note, whatever the bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(60), fc.nat(60), (bytes, headBytes, tailBytes) => {
      const { text, omitted, omittedRanges } = displayText(bytes, { headBytes, tailBytes });
      const shown = text.replace(/\n?… \d+ bytes left out …\n/, "");
      expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(headBytes + tailBytes + 1);
      expect(Array.from(text).filter((it) => it !== "\t" && it !== "\n" && (it < " " || it === "\u007f"))).toEqual([]);
      for (const [from, to] of omittedRanges) expect(to - from).toBe(omitted);
    }),
    { seed: SEED, numRuns: 1000 },
  );
});
