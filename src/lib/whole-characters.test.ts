import fc from "fast-check";
import { expect, test } from "vitest";
import { wholeCharacters } from "./whole-characters.ts";

test("[SES-15] text is cut between characters, wherever the bytes are cut", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.nat(), (text, at) => {
      const bytes = new TextEncoder().encode(text);
      const cut = bytes.subarray(0, at % (bytes.length + 1));

      const whole = wholeCharacters(cut);

      expect(new TextDecoder().decode(cut.subarray(0, whole))).not.toContain("\ufffd");
      expect(cut.length - whole).toBeLessThan(4);
      expect(wholeCharacters(bytes)).toBe(bytes.length);
    }),
  );
});

test("[SES-15] bytes that are no UTF-8 are not held back", () => {
  expect(wholeCharacters(Uint8Array.of(0x80, 0x80, 0x80, 0x80))).toBe(4);
  expect(wholeCharacters(Uint8Array.of(0x61, 0xff))).toBe(1);
  expect(wholeCharacters(new Uint8Array())).toBe(0);
});
