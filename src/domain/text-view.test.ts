import { Buffer } from "node:buffer";
import fc from "fast-check";
import { expect, test } from "vitest";
import { SEED } from "../../test/crash/seeded.ts";
import { TextView } from "./text-view.ts";
import { soakCount } from "../../test/support/soak.ts";

const RUNS = soakCount(5_000);

/** Pieces of output of which any order is possible output. */
const piece = fc.oneof(
  fc.constantFrom("a", "b c", "\n", "\r\n", "\r", "\t", "é", "語", "😀", "\b", "\u0007", "\u007f", "\u0000"),
  fc.constantFrom("\x1b[31m", "\x1b[0;1;38;2;1;2;3m", "\x1b[?2004h", "\x1b(B", "\x1bM", "\x1b=", "\x1b#8", "\x1b[ q"),
  fc.constantFrom("\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\", "\x1bPq#0~-\x1b\\", "\x1b_app\x1b\\", "\x1b^pm\x1b\\"),
  fc.constantFrom("\x1b[3\n", "\x1b[12\x18x", "\x1b[é", "\u009b31m", "\u0085"),
);
const output = fc
  .array(
    fc.oneof(
      piece.map((it) => Buffer.from(it)),
      fc.uint8Array({ maxLength: 3 }).map((it) => Buffer.from(it)),
    ),
  )
  .map((it) => Buffer.concat(it));

function textOf(bytes: Uint8Array, cursor = 0): string {
  return new TextView(cursor).push(bytes);
}

function viewOf(bytes: Uint8Array): { readonly view: TextView; readonly text: string } {
  const view = new TextView(0);
  return { view, text: view.push(bytes) };
}

test.each([
  ["plain text\n", "plain text\n"],
  ["a\tb\bc\u0007d\u0000\u007f", "a\tbcd"],
  ["a\r\nb\rc\n\rd\r\r\n", "a\nb\nc\n\nd\n\n"],
  ["\x1b[1;31mred\x1b[0m \x1b[?25lx\x1b[2 qy", "red xy"],
  ["\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "alink"],
  ["\x1bP1$r0m\x1b\\a\x1b_G\n\x1b\\b\x1b^x\x1b\\c\x1bXsos\x1b\\d", "abcd"],
  ["\x1b(Ba\x1b)0b\x1b#8c\x1bMd\x1b7e\x1b%Gf", "abcdef"],
  ["a\x1b[3\nb\x1b[1\x18c\x1b[\x1b[0md", "a\nbcd"],
  ["\u009b31ma\u0085b\u009d0;t\x07c", "abc"],
])("[WAI-3, WAI-4, WAI-5] %j reads as %j", (raw, text) => {
  expect(textOf(Buffer.from(raw))).toBe(text);
});

test("[WAI-3] bytes that are no UTF-8 read as the Encoding Standard says", () => {
  const plain = fc.uint8Array({ maxLength: 40 }).map((it) => it.map((byte) => (byte < 0x80 ? 0x61 : byte)));
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  fc.assert(
    fc.property(plain, (bytes) => {
      // A trailing "a" completes what is open; C1 controls aren't text.
      const whole = Buffer.concat([bytes, Buffer.from("a")]);
      const expected = decoder.decode(whole);
      fc.pre(!/[\u0080-\u009f]/.test(expected));
      expect(textOf(whole)).toBe(expected);
    }),
    { seed: SEED, numRuns: RUNS },
  );
});

test("[WAI-2] any chunking gives the same text and the same places", () => {
  fc.assert(
    fc.property(output, fc.array(fc.nat(200)), (bytes, cuts) => {
      const whole = viewOf(bytes);
      const view = new TextView(0);
      const ends = [...cuts.filter((it) => it < bytes.length).toSorted((a, b) => a - b), bytes.length];
      const text = ends.map((end, at) => view.push(bytes.subarray(at === 0 ? 0 : ends[at - 1], end))).join("");
      expect(text).toBe(whole.text);
      expect(places(view)).toEqual(places(whole.view));
      expect(view.settledCursor).toBe(whole.view.settledCursor);
    }),
    { seed: SEED, numRuns: RUNS },
  );
});

test("[WAI-6] a view that begins where a character begins, ends or is awaited reads the rest alike", () => {
  fc.assert(
    fc.property(output, output, (bytes, more) => {
      const { view, text } = viewOf(bytes);
      const all = Buffer.concat([bytes, more]);
      const whole = textOf(all);
      expect(textOf(all.subarray(view.settledCursor))).toBe(whole.slice(text.length));
      for (let at = 0; at < text.length; at += 1) {
        if (/[\udc00-\udfff]/.test(text[at]!)) continue;
        const units = text.codePointAt(at)! > 0xffff ? 2 : 1;
        expect(textOf(all.subarray(view.rawBegin(at)))).toBe(whole.slice(at));
        expect(textOf(all.subarray(view.rawEnd(at)))).toBe(whole.slice(at + units));
      }
    }),
    { seed: SEED, numRuns: RUNS / 5 },
  );
});

test("[WAI-6] places count raw bytes from the given cursor, also for text that isn't ASCII", () => {
  const view = new TextView(1000);
  const text = view.push(Buffer.from("é\x1b[1m語😀\r\nz"));
  expect(text).toBe("é語😀\nz");
  expect(places(view)).toEqual([
    [1000, 1002],
    [1006, 1009],
    [1009, 1013],
    [1009, 1013],
    [1013, 1015],
    [1015, 1016],
  ]);
});

test("[WAI-6] the first unit at or after an offset is found", () => {
  fc.assert(
    fc.property(output, (bytes) => {
      const { view } = viewOf(bytes);
      const begins = places(view).map(([begin]) => begin);
      for (let raw = 0; raw <= bytes.length; raw += 1) {
        const expected = begins.findIndex((it) => it >= raw);
        expect(view.indexAtOrAfter(raw)).toBe(expected < 0 ? view.length : expected);
      }
    }),
    { seed: SEED, numRuns: RUNS },
  );
});

test("[WAI-19] places stay right when what came before them is dropped", () => {
  const view = new TextView(0);
  const line = Buffer.from("ü\x1b[1mx\r\n");
  for (let count = 0; count < 20_000; count += 1) {
    view.push(line);
    view.drop(view.length - 2);
  }
  expect(view.rawBegin(view.length - 2)).toBe(20_000 * line.length - 3);
  expect(view.rawEnd(view.length - 1)).toBe(20_000 * line.length);
});

function places(view: TextView): (readonly [number, number])[] {
  return Array.from({ length: view.length }, (_, at) => [view.rawBegin(at), view.rawEnd(at)] as const);
}
