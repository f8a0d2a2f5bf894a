import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SseParser } from "./sse.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function readAll(stream: Uint8Array, cuts: readonly number[]) {
  const parser = new SseParser();
  const edges = [0, ...cuts.map((cut) => cut % (stream.length + 1)).sort((a, b) => a - b), stream.length];
  const messages = edges.slice(1).flatMap((edge, at) => parser.push(stream.subarray(edges[at], edge)));
  return { messages, lastId: parser.lastId };
}

test.each([
  { name: "a plain message", text: "data: a\n\n", messages: [{ event: "message", data: "a" }], lastId: "" },
  { name: "a named one", text: "event: resync\ndata: {}\n\n", messages: [{ event: "resync", data: "{}" }], lastId: "" },
  { name: "only one blank goes", text: "data:  a \n\n", messages: [{ event: "message", data: " a " }], lastId: "" },
  {
    name: "several lines",
    text: "data: a\ndata\ndata:b\n\n",
    messages: [{ event: "message", data: "a\n\nb" }],
    lastId: "",
  },
  { name: "CRLF", text: "data: a\r\ndata: b\r\n\r\n", messages: [{ event: "message", data: "a\nb" }], lastId: "" },
  {
    name: "CR alone",
    text: "data: a\r\rdata: b\r\r",
    messages: [
      { event: "message", data: "a" },
      { event: "message", data: "b" },
    ],
    lastId: "",
  },
  {
    name: "comments and unknown fields",
    text: ": hello\nretry: 1\nfoo: x\ndata: a\n\n",
    messages: [{ event: "message", data: "a" }],
    lastId: "",
  },
  { name: "an id without data", text: "id: 7\n\n", messages: [], lastId: "7" },
  {
    name: "an id that stays",
    text: "id: 7\ndata: a\n\ndata: b\n\n",
    messages: [
      { event: "message", data: "a" },
      { event: "message", data: "b" },
    ],
    lastId: "7",
  },
  {
    name: "an unfinished message",
    text: "id: 1\ndata: a\n\nid: 2\ndata: b\n",
    messages: [{ event: "message", data: "a" }],
    lastId: "1",
  },
  { name: "a byte order mark", text: "\uFEFFdata: a\n\n", messages: [{ event: "message", data: "a" }], lastId: "" },
  { name: "an id with NUL", text: "id: 1\0\ndata: a\n\n", messages: [{ event: "message", data: "a" }], lastId: "" },
])("[SDK-9] reads $name", ({ text, messages, lastId }) => {
  expect(readAll(bytes(text), [])).toEqual({ messages, lastId });
});

const eol = fc.constantFrom("\n", "\r\n", "\r");
const line = fc.string({ unit: "binary", maxLength: 12 }).map((text) => text.replaceAll(/[\r\n]/g, ""));
const block = fc.record({ data: fc.array(line, { minLength: 1, maxLength: 3 }), comment: line, id: fc.nat() });

test("[SDK-9] any chunking of any stream gives the same messages", () => {
  fc.assert(
    fc.property(
      fc.array(block, { maxLength: 5 }),
      fc.infiniteStream(eol),
      fc.array(fc.nat(), { maxLength: 30 }),
      (blocks, eols, cuts) => {
        const end = (): string => eols.next().value as string;
        const parts = blocks.map(({ data, comment, id }) => {
          const lines = [`:${comment}`, `id: ${id}`, ...data.map((text) => `data: ${text}`)];
          // A lone CR before a line that begins with LF would be one line end, so the blank line ends as its own.
          return `${lines.map((text) => text + end()).join("")}\n\n`;
        });

        const read = readAll(bytes(parts.join("")), cuts);

        const wellFormed = (text: string): string => new TextDecoder().decode(bytes(text));
        expect(read.messages).toEqual(
          blocks.map(({ data }) => ({ event: "message", data: wellFormed(data.join("\n")) })),
        );
        expect(read.lastId).toBe(String(blocks.at(-1)?.id ?? ""));
      },
    ),
  );
});
