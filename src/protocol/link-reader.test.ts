import fc from "fast-check";
import { expect, test } from "vitest";
import { type LinkFault, MessageReader } from "./link-reader.ts";
import { BODY_MAX, encodeMessage, type HubMessage } from "./link.ts";

type Seen = { readonly messages: [unknown, string][]; readonly faults: LinkFault[] };

function read(bytes: Uint8Array, cuts: readonly number[] = []): Seen {
  const seen: Seen = { messages: [], faults: [] };
  const reader = new MessageReader({
    message: (header, body) => seen.messages.push([header, Buffer.from(body).toString("hex")]),
    fault: (fault) => seen.faults.push(fault),
  });
  let at = 0;
  for (const cut of [...cuts.toSorted((a, b) => a - b), bytes.length]) {
    reader.push(bytes.subarray(at, cut));
    at = Math.max(at, cut);
  }
  return seen;
}

function ping(at: number): HubMessage {
  return { type: "PING", at };
}

function raw(rest: number, headerBytes: number, content: Uint8Array): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(rest, 0);
  head.writeUInt32BE(headerBytes, 4);
  return Buffer.concat([head, content]);
}

const anyMessage = fc.record({ at: fc.nat(), body: fc.uint8Array({ maxLength: 300 }) });

test("[HST-3] messages are the same however their bytes are cut", () => {
  const property = fc.property(
    fc.array(anyMessage, { minLength: 1, maxLength: 6 }),
    fc.array(fc.nat(2000), { maxLength: 12 }),
    (messages, cuts) => {
      const bytes = Buffer.concat(messages.map(({ at, body }) => encodeMessage(ping(at), body)));
      const seen = read(
        bytes,
        cuts.map((cut) => cut % (bytes.length + 1)),
      );
      expect(seen.faults).toEqual([]);
      expect(seen.messages).toEqual(messages.map(({ at, body }) => [ping(at), Buffer.from(body).toString("hex")]));
    },
  );
  fc.assert(property, { numRuns: 300 });
});

test("[HST-3] a message that comes byte by byte is found", () => {
  const bytes = encodeMessage(ping(7), Buffer.from("body"));

  const seen = read(
    bytes,
    Array.from(bytes, (_, index) => index),
  );

  expect(seen.messages).toEqual([[ping(7), Buffer.from("body").toString("hex")]]);
});

test.each([
  { what: "a header that is no JSON", bytes: raw(8, 4, Buffer.from("{{{{")) },
  { what: "a header that is no UTF-8", bytes: raw(6, 2, Buffer.from([0xc3, 0x28])) },
  { what: "a body that is too large", bytes: encodeMessage(ping(1), new Uint8Array(BODY_MAX + 1)) },
  { what: "a message of 5 MB", bytes: raw(5_000_000, 2, Buffer.alloc(5_000_000 - 4)) },
])("[HST-4] $what is passed over and what follows is read", ({ bytes }) => {
  const seen = read(Buffer.concat([bytes, encodeMessage(ping(9))]), [3, 9, 65_536]);

  expect(seen.faults.map((it) => it.kind)).toEqual(["malformed"]);
  expect(seen.messages).toEqual([[ping(9), ""]]);
});

test.each([
  { what: "shorter than its own header length", bytes: raw(3, 0, Buffer.alloc(9)) },
  { what: "longer than anything we would send", bytes: raw(0xff_ff_ff_ff, 2, Buffer.alloc(9)) },
  { what: "shorter than its header", bytes: raw(10, 100, Buffer.alloc(6)) },
])("[HST-4] a message that claims to be $what ends the reading", ({ bytes }) => {
  const seen = read(Buffer.concat([bytes, encodeMessage(ping(9))]), [2]);

  expect(seen.faults.map((it) => it.kind)).toEqual(["framing"]);
  expect(seen.messages).toEqual([]);
});

test("[HST-3] a body stays as it came when the buffer that it was read into is filled again", () => {
  const bodies: Uint8Array[] = [];
  const reader = new MessageReader({ message: (_header, body) => bodies.push(body), fault: () => undefined });
  const buffer = Buffer.from(encodeMessage(ping(1), Buffer.from("kept")));

  reader.push(buffer);
  buffer.fill(0);

  expect(bodies).toEqual([new Uint8Array(Buffer.from("kept"))]);
});
