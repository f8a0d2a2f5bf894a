import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeOutput, encodeOutput } from "./stream.ts";

test("[STR-6] an output frame is 1 byte kind, 16 bytes id, 8 bytes big-endian cursor, then the bytes", () => {
  const frame = encodeOutput("00112233-4455-6677-8899-aabbccddeeff", 258, Uint8Array.of(7, 8));

  expect(Buffer.from(frame).toString("hex")).toBe("0100112233445566778899aabbccddeeff00000000000001020708");
});

test("[STR-6] what is encoded is decoded; other kinds are unknown", () => {
  fc.assert(
    fc.property(fc.uuid(), fc.nat({ max: Number.MAX_SAFE_INTEGER }), fc.uint8Array(), (sessionId, cursor, bytes) => {
      expect(decodeOutput(encodeOutput(sessionId, cursor, bytes))).toEqual({ sessionId, cursor, bytes });
    }),
  );
  expect(decodeOutput(Uint8Array.of(2, 0, 0))).toBeUndefined();
});
