import fc from "fast-check";
import { expect, test } from "vitest";
import { SEED } from "../../../../test/crash/seeded.ts";
import { Emulator } from "./emulator.ts";
import { soakCount } from "../../../../test/support/soak.ts";

const SIZE = { cols: 20, rows: 6 };
const RUNS = soakCount(10_000);
const KEYFRAME = { scrollback: 200, maxBytes: 64 * 1024 };

function emulator(keyframe?: string, size = SIZE): Emulator {
  return new Emulator({ ...size, keyframe, onReply: () => undefined });
}

function feed(target: Emulator, output: string | Uint8Array): void {
  target.feed(Buffer.from(output), { answer: false });
}

/** Everything of an emulator that can have an effect later. */
function stateOf(target: Emulator): object {
  return { ...target.read(), ansi: target.write({ scrollback: 0, maxBytes: 1 << 20 }).data };
}

/** What a new emulator shows that goes on from this one's keyframe. */
function rebuilt(from: Emulator, size = SIZE): Emulator {
  const { data, incomplete } = from.write(KEYFRAME);
  const next = emulator(data, size);
  next.feed(incomplete, { answer: false });
  return next;
}

const number = fc.integer({ min: 1, max: 22 });
const csi = (finals: string): fc.Arbitrary<string> =>
  fc.tuple(number, fc.constantFrom(...Array.from(finals))).map(([value, final]) => `\u001B[${value}${final}`);
const piece = fc.oneof(
  { arbitrary: fc.string({ minLength: 1, maxLength: 30 }).filter((text) => !text.includes("\u007F")), weight: 4 },
  fc.constantFrom("漢字", "e\u0301", "\u0301", "—…─", "😀", "한국어", "x\u0301".repeat(12)),
  fc.constantFrom("\r\n", "\n", "\r", "\b", "\t", "\r\n\r\n\r\n"),
  csi("ABCDEFGIZ`ade@PXLMb"),
  fc.tuple(number, number).map(([row, col]) => `\u001B[${row};${col}H`),
  fc.constantFrom("\u001B[K", "\u001B[J", "\r\u001B[1K", "\r\u001B[2K", "\u001B[H\u001B[2J", "\u001B[3J"),
  fc.constantFrom(
    "\u001B[31m",
    "\u001B[0m",
    "\u001B[1;44m",
    "\u001B[7m",
    "\u001B[38;5;200m",
    "\u001B[48;2;1;2;3m",
    "\u001B[4:3;9m",
  ),
  fc.constantFrom(
    "\u001B[2;5r",
    "\u001B[r",
    "\u001B[?6h",
    "\u001B[?6l",
    "\u001B[?7l",
    "\u001B[?7h",
    "\u001B[4h",
    "\u001B[4l",
  ),
  fc.constantFrom(
    "\u001B7",
    "\u001B8",
    "\u001B[s",
    "\u001B[u",
    "\u001BD",
    "\u001BM",
    "\u001BE",
    "\u001BH",
    "\u001B[3g",
    "\u001B[g",
  ),
  fc.constantFrom("\u001B(0lqqk\u001B(B", "\u001B)0\u000Eqx\u000F", "\u001B(A#\u001B(B", "\u001B)B"),
  fc.constantFrom(
    "\r\u001B[?1049h",
    "\u001B[?1049l",
    "\r\u001B[?47h",
    "\r\u001B[?47l",
    "\r\u001B[2S",
    "\r\u001B[2T",
    "\u001B[!p",
    "\u001Bc",
  ),
  fc.constantFrom(
    "\u001B[?2004h",
    "\u001B[?1002;1006h",
    "\u001B[?1000l",
    "\u001B[?25l",
    "\u001B[5 q",
    "\u001B[?1h",
    "\u001B=",
  ),
  fc.constantFrom(
    "\u001B]2;title\u0007",
    "\u001BPq#0;1\u001B\\",
    "\u001B[0m\u001B]8;;http://x\u0007link\u001B]8;;\u0007",
    "\u001B[3\n1m",
  ),
);
/**
 * Where nothing wraps, xterm.js erases a wide character at the margin when another one, that doesn't fit, begins a chunk.
 * Whether it does so can't be told from outside.
 */
const dependsOnChunks = (text: string): boolean => text.includes("\u001B[?7l") && /[\u1100-\u{1F9FF}]/u.test(text);
const output = fc
  .array(piece, { minLength: 1, maxLength: 40 })
  .map((pieces) => pieces.join(""))
  .filter((text) => !dependsOnChunks(text))
  .map((text) => Buffer.from(text));

/** A wide character that doesn't fit leaves an empty cell, which is bold although nothing shows it. */
const BOLD_MARGIN = Buffer.from("\u001B[17a\u001B[1;44m漢字\u001B[1A");

/** The cursor stands two cells behind the last one then. */
const ALONE_BEHIND = Buffer.from("\u001B[1;14H       \u001B]2;title\u0007\u0301\u001B[0mlink");

/** The line in which the cursor was saved scrolls off, and then what scrolled off is erased. */
const SAVED_ABOVE = Buffer.from(`漢字\u001B7\u001B[6;10H${"x\u0301".repeat(12)}\u001B[3J   \t`);

/** The first row continues one that is gone, and is no longer the first one then. */
const CONTINUES_NOTHING = Buffer.from(`\u001BE${" ".repeat(23)}\r\u001B[2Sx\r\u001B[2T`);

test("[SCR-20] a keyframe taken anywhere is continued exactly by the bytes that follow", () => {
  fc.assert(
    fc.property(output, fc.array(fc.nat(), { minLength: 1, maxLength: 3 }), (bytes, places) => {
      const cuts = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
      const whole = emulator();
      feed(whole, bytes);
      let parts = emulator();
      let at = 0;
      for (const cut of cuts) {
        feed(parts, bytes.subarray(at, cut));
        parts = rebuilt(parts);
        at = cut;
      }
      feed(parts, bytes.subarray(at));
      expect(stateOf(parts)).toEqual(stateOf(whole));
    }),
    {
      seed: SEED,
      numRuns: RUNS,
      examples: [
        [BOLD_MARGIN, [BOLD_MARGIN.length - 1]],
        [ALONE_BEHIND, [26]],
        [SAVED_ABOVE, [1_555_545_829, 0]],
        [CONTINUES_NOTHING, [CONTINUES_NOTHING.length - 4]],
      ],
    },
  );
});

test("[SCR-21] any chunking shows the same screen", () => {
  fc.assert(
    fc.property(output, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (bytes, lengths) => {
      const whole = emulator();
      feed(whole, bytes);
      const parts = emulator();
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const to = at + lengths[turn % lengths.length]!;
        feed(parts, bytes.subarray(at, to));
        at = to;
      }
      expect(stateOf(parts)).toEqual(stateOf(whole));
    }),
    { seed: SEED, numRuns: RUNS },
  );
});

function replies(output: string): string[] {
  const given: string[] = [];
  const asked = new Emulator({ ...SIZE, onReply: (text) => given.push(text) });
  asked.feed(Buffer.from(output), { answer: true });
  return given;
}

test.each([
  ["\u001B[c", "\u001B[?1;2c"],
  ["\u001B[>c", "\u001B[>0;276;0c"],
  ["\u001B[=c", "\u001BP!|00000000\u001B\\"],
  ["\u001B[5n", "\u001B[0n"],
  ["ab\r\ncd\u001B[6n", "\u001B[2;3R"],
  ["\u001B[?6n", "\u001B[?1;1R"],
  ["\u001B[?2004h\u001B[?2004$p", "\u001B[?2004;1$y"],
  ["\u001B[?12345$p", "\u001B[?12345;0$y"],
  ["\u001B]10;?\u0007", "\u001B]10;rgb:ffff/ffff/ffff\u001B\\"],
  ["\u001B]11;?\u0007", "\u001B]11;rgb:0000/0000/0000\u001B\\"],
  ["\u001B]4;9;?\u0007", "\u001B]4;9;rgb:ffff/0000/0000\u001B\\"],
  ["\u001B]4;196;?\u0007", "\u001B]4;196;rgb:ffff/0000/0000\u001B\\"],
  ["\u001B]4;255;?\u0007", "\u001B]4;255;rgb:eeee/eeee/eeee\u001B\\"],
  ["\u001B[>q", "\u001BP>|xterm.js(6.0.0)\u001B\\"],
  ["\u001B[18t", "\u001B[8;6;20t"],
  ["\u001B[14t", "\u001B[4;120;200t"],
  ["\u001BP$qr\u001B\\", "\u001BP1$r1;6r\u001B\\"],
  ["\u001BP+q544e\u001B\\", "\u001BP0+r\u001B\\"],
])("[SCR-25] %j is answered by %j", (query, answer) => {
  expect(replies(query)).toEqual([answer]);
});

test("[SCR-26] nothing that was printed is given back: no title, no clipboard", () => {
  const asked = "\u001B]2;rm -rf /\u0007\u001B[21t\u001B[20t\u001B]52;c;cm0=\u0007\u001B]52;c;?\u0007";

  expect(replies(asked)).toEqual(["\u001B]l\u001B\\", "\u001B]L\u001B\\"]);
});

test("[SCR-27] a query in output that was answered before is not answered again", () => {
  const given: string[] = [];
  const target = new Emulator({ ...SIZE, keyframe: "\u001B[c", onReply: (text) => given.push(text) });

  target.feed(Buffer.from("\u001B[6n"), { answer: false });

  expect(given).toEqual([]);
});

test("[SCR-28] a title is short and holds no controls and nothing that reorders text", () => {
  const target = emulator();

  feed(target, `\u001B]2;a\u0001b\u202Ec\u2028d${"x".repeat(1_000)}\u0007`);

  expect(target.read().title).toBe(`abcd${"x".repeat(252)}`);
});

test("[SCR-22] a keyframe holds at most its bytes, with less scrollback when it must", () => {
  const target = emulator();
  feed(target, Array.from({ length: 500 }, (_, line) => `\u001B[3${line % 8}mline ${line}\r\n`).join(""));

  const { data } = target.write({ scrollback: 200, maxBytes: 2_000 });
  const next = emulator(data);

  expect(data.length).toBeLessThanOrEqual(2_000);
  expect(data).toContain("line 480");
  expect(next.read()).toEqual(target.read());
});

test("[SCR-23] rows that continue each other still do after a keyframe, so that a resize reflows them", () => {
  const target = emulator();
  feed(target, `${"abcdefghij".repeat(5)}\r\nshort\r\n${"漢字".repeat(12)}`);
  const next = rebuilt(target);

  for (const each of [target, next]) each.resize(30, 8);

  expect(next.read()).toEqual(target.read());
  expect(next.read().lines[0]).toBe("abcdefghij".repeat(3));
});

test.each([
  ["output that scrolls", "\r\n".repeat(3)],
  ["more output than is kept", "\r\n".repeat(1_100)],
  ["erasing what scrolled off", `${"\r\n".repeat(9)}\u001B[3J`],
  ["a visit to the other screen", "\u001B[?1047h\u001B[2J\u001B7\u001B[?1047l"],
])("[SCR-46] %s leaves a saved cursor in its row", (_what, printed) => {
  const target = emulator();
  feed(target, `\u001B[5;3H\u001B7\u001B[6H${printed}`);
  const next = rebuilt(target);

  for (const each of [target, next]) feed(each, "\u001B8");

  expect(target.read()).toMatchObject({ cursorRow: 4, cursorCol: 2 });
  expect(next.read()).toEqual(target.read());
});

test("[SCR-46] a resize leaves a saved cursor in its row, or in the last one that is left", () => {
  const target = emulator();
  feed(target, `${"abcdefghij".repeat(9)}\u001B[5;3H\u001B7\u001B[6H\r\n\r\n`);
  target.resize(8, 3);
  const next = rebuilt(target, { cols: 8, rows: 3 });

  for (const each of [target, next]) {
    each.resize(40, 12);
    feed(each, "\u001B8");
  }

  expect(target.read()).toMatchObject({ cursorRow: 2, cursorCol: 2 });
  expect(next.read()).toMatchObject({ cursorRow: 2, cursorCol: 2 });
});

test("[SCR-46] a full reset forgets a saved cursor", () => {
  const target = emulator();
  feed(target, "\u001B[5;3H\u001B7\u001Bc\r\n\n\n\u001B8");

  expect(target.read()).toMatchObject({ cursorRow: 0, cursorCol: 0 });
});
