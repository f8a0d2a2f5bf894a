import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type OutputFilter, PlainOutput, WithoutQueries } from "./screen-output.ts";

const E = "\u001b";

function through(filter: OutputFilter, chunks: readonly Uint8Array[]): string {
  return Buffer.concat([...chunks.map((chunk) => filter.push(chunk)), filter.end()]).toString();
}

const bytes = (text: string): Buffer => Buffer.from(text);

const QUERIES = [
  `${E}[c`,
  `${E}[0c`,
  `${E}[>c`,
  `${E}[=0c`,
  `${E}[5n`,
  `${E}[6n`,
  `${E}[?6n`,
  `${E}[?2026$p`,
  `${E}[4$p`,
  `${E}[>0q`,
  `${E}[?u`,
  `${E}[x`,
  `${E}[14t`,
  `${E}[18t`,
  `${E}]10;?\u0007`,
  `${E}]11;?${E}\\`,
  `${E}]4;1;?\u0007`,
  `${E}]52;c;?\u0007`,
  `${E}P+q544e${E}\\`,
  `${E}P$qm${E}\\`,
  `${E}Z`,
  "\u0005",
  "\u009b6n",
];

const SHOWN = [
  "text ü ✓ 日本\r\n",
  `${E}[1;31m`,
  `${E}[2J${E}[H`,
  `${E}[?1049h${E}[?1000h${E}[?2004h`,
  `${E}]0;a title with ✓?\u0007`,
  `${E}]8;;https://example.org/?q=1\u0007link${E}]8;;\u0007`,
  `${E}]11;#1e1e1e\u0007`,
  `${E}]52;c;aGVsbG8=\u0007`,
  `${E}[22;0t${E}[8;24;80t`,
  `${E}[4 q${E}[!p${E}[>4;2m${E}(B${E}7${E}8${E}=`,
  `${E}Pq#0;2;0;0;0${"~".repeat(9000)}${E}\\`,
];

test.each(QUERIES.map((query) => [JSON.stringify(query), query]))(
  "[TCL-6] %s is not shown to the local terminal",
  (_name, query) => {
    expect(through(new WithoutQueries(), [bytes(`a${query}b`)])).toBe("ab");
  },
);

test.each(SHOWN.map((shown) => [JSON.stringify(shown).slice(0, 60), shown]))(
  "[TCL-1, TCL-6] %s is shown as it is",
  (_name, shown) => {
    expect(through(new WithoutQueries(), [bytes(shown)])).toBe(shown);
  },
);

const cut = (whole: Uint8Array, cuts: readonly number[]): Uint8Array[] => {
  const places = [...new Set(cuts.map((it) => it % (whole.length + 1)))].toSorted((a, b) => a - b);
  return [0, ...places].map((from, at) => whole.subarray(from, places[at]));
};

test.each([
  { name: "for a screen", make: () => new WithoutQueries() },
  { name: "for a pipe", make: () => new PlainOutput() },
])("[TCL-6, TCL-10] $name it is the same however the output is cut", ({ make }) => {
  const piece = fc.constantFrom(...QUERIES, ...SHOWN, "\r", "\n", "plain");
  fc.assert(
    fc.property(fc.array(piece), fc.array(fc.nat(20_000)), (pieces, cuts) => {
      const whole = bytes(pieces.join(""));

      expect(through(make(), cut(whole, cuts))).toBe(through(make(), [whole]));
    }),
  );
});

test("[TCL-6] anything else passes byte for byte, whatever it is", () => {
  const boring = fc.uint8Array().map((it) => it.map((byte) => (byte < 32 || byte === 0xc2 ? 65 : byte)));
  fc.assert(
    fc.property(fc.array(boring), (chunks) => {
      const filter = new WithoutQueries();
      const shown = Buffer.concat([...chunks.map((chunk) => filter.push(chunk)), filter.end()]);

      expect(shown.equals(Buffer.concat(chunks))).toBe(true);
    }),
  );
});

test.each([
  ["one\r\ntwo\r\n", "one\ntwo\n"],
  [`${E}[1;32mok${E}[0m ${E}]0;title\u0007done`, "ok done"],
  ["10%\r50%\r100%\r\n", "10%\n50%\n100%\n"],
  ["a\tb\u0007\u0000c\u007f", "a\tbc"],
  [`${E}[?2004lgrün ✓${E}[?2004h`, "grün ✓"],
  [`x${E}Pq${"~".repeat(9000)}${E}\\y`, "xy"],
  [`end${E}[3`, "end"],
])("[TCL-10] %j becomes text for a pipe", (output, text) => {
  expect(through(new PlainOutput(), [bytes(output)])).toBe(text);
});
