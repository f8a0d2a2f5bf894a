import { Buffer } from "node:buffer";
import process from "node:process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Mark, MarkFilter } from "./marks.ts";
import { soakCount } from "../../test/support/soak.ts";

const NONCE = "0123456789abcdef0123456789abcdef";
const tools = {
  indexOf: (bytes: Uint8Array, needle: Uint8Array | number, from: number): number =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(needle, from),
};
const FUZZ = { numRuns: soakCount(20_000), seed: Number(process.env["SIDESTICK_SEED"] ?? 7) };

function mark(body: string, nonce = NONCE): string {
  return `\u001B]7717;${nonce};${body}\u0007`;
}

/** Adjacent bytes joined, as text: what a reader sees whatever the chunks. */
function seen(chunks: readonly string[]): readonly (string | Mark)[] {
  const filter = new MarkFilter(NONCE, tools);
  const items = [...chunks.flatMap((chunk) => [...filter.push(Buffer.from(chunk, "latin1"))]), filter.release()];
  const joined: (string | Mark)[] = [];
  for (const item of items) {
    const last = joined.at(-1);
    if (!(item instanceof Uint8Array)) joined.push(item);
    else if (typeof last === "string") joined[joined.length - 1] = last + Buffer.from(item).toString("latin1");
    else if (item.length > 0) joined.push(Buffer.from(item).toString("latin1"));
  }
  return joined;
}

test("[BLK-1] marks leave the stream and stand where they were", () => {
  const text = `${mark("D;0;/tmp")}${mark("A;0")}$ ${mark("B")}ls\r\n${mark("C")}a b\r\n${mark("D;3;/srv/x")}${mark("A;3")}`;

  expect(seen([text])).toEqual([
    { kind: "prompt_start", exitCode: 0, cwd: "/tmp" },
    "$ ",
    { kind: "prompt_end" },
    "ls\r\n",
    { kind: "command_start" },
    "a b\r\n",
    { kind: "command_done", exitCode: 3, cwd: "/srv/x" },
    { kind: "prompt_start", exitCode: 3, cwd: "/srv/x" },
  ]);
});

test.each([
  { what: "another nonce", text: mark("C", NONCE.replace("0", "1")) },
  { what: "no nonce", text: mark("C", "") },
  { what: "an unknown kind", text: mark("E") },
  { what: "a code that is none", text: mark("D;x") },
  { what: "a code too long", text: mark("D;1234;/") },
  { what: "a character that a path never has", text: mark("D;0;/a b") },
  { what: "another end", text: mark("C").replace("\u0007", "\u001B\\") },
  { what: "FinalTerm", text: "\u001B]133;C\u0007\u001B]133;D;0\u0007" },
  { what: "VS Code", text: "\u001B]633;C\u0007\u001B]633;D;0\u0007" },
  { what: "the published marker", text: "__FWS_PROMPT__ ts=1 cwd_b64=L3RtcA==\r\n" },
  { what: "a body without end", text: `\u001B]7717;${NONCE};D;0;/${"a".repeat(13_000)}` },
])("[BLK-2] what only looks like a mark passes unchanged: $what", ({ text }) => {
  expect(seen([`x${text}y`])).toEqual([`x${text}y`]);
});

test("[BLK-3] a command starts once and ends once, whatever the shell repeats", () => {
  const text = [
    mark("C"),
    mark("C"),
    "x",
    mark("D;1;/"),
    mark("D;1;/"),
    mark("A;1"),
    mark("B"),
    mark("A;1"),
    mark("B"),
  ];

  expect(seen([text.join("")])).toEqual([
    { kind: "command_start" },
    "x",
    { kind: "command_done", exitCode: 1, cwd: "/" },
    { kind: "prompt_start", exitCode: 1, cwd: "/" },
    { kind: "prompt_end" },
    { kind: "prompt_start", exitCode: 1 },
    { kind: "prompt_end" },
  ]);
});

test("[BLK-4] a prompt ends a command whose end was not told", () => {
  expect(seen([`${mark("C")}x${mark("A;2")}`])).toEqual([
    { kind: "command_start" },
    "x",
    { kind: "command_done", exitCode: 2 },
    { kind: "prompt_start", exitCode: 2 },
  ]);
});

test.each([
  { escaped: "/a%20b", cwd: "/a b" },
  { escaped: "/%C3%A9%0A%1B%07%3B", cwd: "/é\n\u001B\u0007;" },
  { escaped: "/%FFx%C3%A9%80", cwd: "/\uFFFDxé\uFFFD" },
  { escaped: "/%C3", cwd: "/\uFFFD" },
  { escaped: "/100%", cwd: "/100%" },
])("[BLK-5] a directory is told whatever its name: $escaped", ({ escaped, cwd }) => {
  expect(seen([`${mark("C")}${mark(`D;0;${escaped}`)}`])).toEqual([
    { kind: "command_start" },
    { kind: "command_done", exitCode: 0, cwd },
  ]);
});

describe("[BLK-6] holding back", () => {
  test("[BLK-6] nothing is held but what may become a mark, and that is let go on request", () => {
    const filter = new MarkFilter(NONCE, tools);

    expect(filter.push(Buffer.from("abc"))).toEqual([Buffer.from("abc")]);
    expect(filter.held).toBe(0);
    expect(filter.push(Buffer.from("x\u001B[0m"))).toEqual([Buffer.from("x\u001B[0m")]);
    expect(filter.push(Buffer.from("y\u001B"))).toEqual([Buffer.from("y")]);
    expect(filter.held).toBe(1);
    expect(Buffer.from(filter.release()).toString()).toBe("\u001B");
    expect(filter.held).toBe(0);
    expect(filter.push(Buffer.from("]7717;"))).toEqual([Buffer.from("]7717;")]);
  });

  test("[BLK-6] any chunks give the same", () => {
    const piece = fc.oneof(
      fc.constantFrom("A;0", "A;1", "B", "C", "D;0;/tmp", "D;130;/a%20b", "Z").map((body) => mark(body)),
      fc.constantFrom("C", "D;0;/").map((body) => mark(body, NONCE.slice(1))),
      fc.nat(45).map((length) => mark("D;0;/").slice(0, length)),
      fc.constantFrom("\u001B", "\u001B]", "\u0007", "text\r\n", "\u001B[1mé"),
    );
    const cuts = fc.array(fc.nat(300), { maxLength: 12 });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), cuts, (pieces, at) => {
        const text = pieces.join("");
        const bounds = [0, ...at.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length];
        const chunks = bounds.slice(1).map((end, index) => text.slice(bounds[index], end));

        expect(seen(chunks)).toEqual(seen([text]));
        expect(seen(text.split(""))).toEqual(seen([text]));
      }),
      FUZZ,
    );
  });
});
