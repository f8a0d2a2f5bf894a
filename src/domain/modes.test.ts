import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SEED } from "../../test/crash/seeded.ts";
import { colourQueries, ModeScanner, NO_MODES } from "./modes.ts";
import { soakCount } from "../../test/support/soak.ts";

const tools = {
  indexOf: (bytes: Uint8Array, needle: Uint8Array | number, from: number): number =>
    Buffer.from(bytes).indexOf(needle, from),
};

function scan(text: string): { readonly modes: object; readonly queries: number } {
  const scanner = new ModeScanner(tools);
  const { queries } = scanner.push(Buffer.from(text));
  return { modes: scanner.modes, queries };
}

test.each([
  ["\u001B[?1049h", { altScreen: true }],
  ["\u001B[?1047h", { altScreen: true }],
  ["\u001B[?47h", { altScreen: true }],
  ["\u001B[?2004h", { bracketedPaste: true }],
  ["\u001B[?9h", { mouse: true }],
  ["\u001B[?1000h", { mouse: true }],
  ["\u001B[?1002h", { mouse: true }],
  ["\u001B[?1003h", { mouse: true }],
  ["\u001B[?1h", { applicationCursor: true }],
  ["\u001B[?1004h", { focus: true }],
  ["\u001B[?1049;2004h", { altScreen: true, bracketedPaste: true }],
  ["\u009B?1049h", { altScreen: true }],
  ["\u001B[?1\r049h", { altScreen: true }],
  ["\u001B[?1049h\u001B[?1049l", {}],
  ["\u001B[1049h", {}],
  ["\u001B[?1049$h", {}],
  ["\u001B]0;\u001B[?1049h", { altScreen: true }],
  ["\u001B]0; [?1049h\u0007", {}],
])("[SCR-1] %j sets %j", (text, modes) => {
  expect(scan(text).modes).toEqual({ ...NO_MODES, ...modes });
});

test("[SCR-1] how a mouse report is written doesn't ask for reports", () => {
  expect(scan("\u001B[?1006h").modes).toEqual(NO_MODES);
});

test("[SCR-2] a full reset clears every mode, a soft one leaves the buffer and the mouse", () => {
  const all = "\u001B[?1049;2004;1000;1;1004h";

  expect(scan(`${all}\u001Bc`).modes).toEqual(NO_MODES);
  expect(scan(`${all}\u001B[!p`).modes).toEqual({ ...NO_MODES, altScreen: true, mouse: true });
  expect(scan(`${all}\u001B(c`).modes).not.toEqual(NO_MODES);
});

const QUERIES = [
  "\u001B[c",
  "\u001B[0c",
  "\u001B[>c",
  "\u001B[=c",
  "\u001B[5n",
  "\u001B[6n",
  "\u001B[?6n",
  "\u001B[4$p",
  "\u001B[?2026$p",
  "\u001B]4;7;?\u0007",
  "\u001B]10;?\u001B\\",
  "\u001B]11;?\u0007",
  "\u001B]12;?\u0007",
  "\u001BP$qm\u001B\\",
  "\u001BP+q544e\u001B\\",
  "\u001B[>q",
  "\u001B[>0q",
  "\u001B[18t",
  "\u001B[14;2t",
  "\u0005",
  "\u009B6n",
];

test.each(QUERIES)("[SCR-3] %j is a query", (text) => {
  expect(scan(`text ${text} text`).queries).toBe(1);
});

test.each([
  "\u001B[1c",
  "\u001B[?c",
  "\u001B[0n",
  "\u001B[7n",
  "\u001B[8;24;80t",
  "\u001B[22;0t",
  "\u001B]11;#000000\u0007",
  "\u001B]11;?\u0018",
  "\u001B]52;c;?\u0007",
  "\u001B]2;?\u0007",
  "\u001BPq\u001B\\",
  "\u001B[ q",
  "\u001B[6 n",
  "\u001B_\u0005\u001B\\",
])("[SCR-4] %j is no query", (text) => {
  expect(scan(`text ${text} text`).queries).toBe(0);
});

test("[SCR-3] a colour sequence names each colour that it asks for", () => {
  expect(colourQueries(4, "1;?;2;#fff;3;?")).toEqual([1, 3]);
  expect(colourQueries(10, "?;?;#fff")).toEqual([10, 11]);
});

describe("any chunking gives the same answer", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ...QUERIES,
      "\u001B[?1049h",
      "\u001B[?1049l",
      "\u001B[?2004h",
      "\u001Bc",
      "\u001B[!p",
      "\u001B[31m",
    ),
    fc.constantFrom(
      "\u001B",
      "\u001B[",
      "\u001B]",
      "\u001BP",
      "\u0007",
      "\u0018",
      "\u001B\\",
      "\u0090",
      "\u009C",
      "§",
      "—",
    ),
    fc.string({ unit: "grapheme", maxLength: 40 }),
  );

  test("[SCR-5] modes, count and unfinished sequence", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(7), { minLength: 1 }), (pieces, cuts) => {
        const bytes = Buffer.from(pieces.join(""));
        const whole = new ModeScanner(tools);
        const { queries } = whole.push(bytes);
        const parts = new ModeScanner(tools);
        let counted = 0;
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const to = at + 1 + cuts[turn % cuts.length]!;
          counted += parts.push(bytes.subarray(at, to)).queries;
          at = to;
        }
        expect({ counted, modes: parts.modes, partial: parts.partial }).toEqual({
          counted: queries,
          modes: whole.modes,
          partial: whole.partial,
        });
      }),
      { seed: SEED, numRuns: soakCount(10_000) },
    );
  });
});

test("[SCR-5] a character that a chunk's end divides ends a sequence, whatever follows it", () => {
  const scanner = new ModeScanner(tools);

  scanner.push(Buffer.from([0x1b, 0x5b, 0xc2]));
  scanner.push(Buffer.from([0xa7, 0x05]));

  expect(scanner.partial).toEqual(new Uint8Array());
});

test("[SCR-6] the unfinished sequence is known, without the controls that already acted in it", () => {
  const scanner = new ModeScanner(tools);

  scanner.push(Buffer.from("text\u001B[3"));
  scanner.push(Buffer.from("\n1"));

  expect(Buffer.from(scanner.partial).toString()).toBe("\u001B[31");
  scanner.push(Buffer.from("m"));
  expect(scanner.partial).toHaveLength(0);
});

test("[SCR-6] a string without an end is remembered by its kind alone", () => {
  const scanner = new ModeScanner(tools);

  scanner.push(Buffer.from(`\u001BPq${"x".repeat(100_000)}`));
  scanner.push(Buffer.from("x".repeat(100_000)));

  expect(Buffer.from(scanner.partial).toString()).toBe("\u001BP~");
});

test("[SCR-7] a reset forgets modes and the unfinished sequence", () => {
  const scanner = new ModeScanner(tools);
  scanner.push(Buffer.from("\u001B[?1049h\u001B["));

  scanner.reset();

  expect([scanner.modes, scanner.push(Buffer.from("c")).queries]).toEqual([NO_MODES, 0]);
});
