import { Buffer } from "node:buffer";
import process from "node:process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { EchoFilter } from "./echo-filter.ts";
import { soakCount } from "../../test/support/soak.ts";

const FUZZ = { numRuns: soakCount(20_000), seed: Number(process.env["SIDESTICK_SEED"] ?? 7) };

function filtered(chunks: readonly string[], typed = " . x/1", shown = "make\r\nall"): string {
  const filter = new EchoFilter();
  filter.expect(Buffer.from(typed), Buffer.from(shown));
  const parts = chunks.map((chunk) => filter.push(Buffer.from(chunk)));
  return Buffer.concat([...parts, filter.release()]).toString();
}

test.each([
  { printed: "$  . x/1\r\n", shown: "$ make\r\nall\r\n" },
  { printed: " \b . x/1\r\n", shown: " \bmake\r\nall\r\n" },
  { printed: " . x/1 . x/1", shown: "make\r\nall . x/1" },
  { printed: " . . x/1", shown: " .make\r\nall" },
  { printed: " . x/ 1\r\n", shown: " . x/ 1\r\n" },
  { printed: " . x", shown: " . x" },
])("[BLK-7] the first echo of what was typed is shown as the command: $printed", ({ printed, shown }) => {
  expect(filtered([printed])).toBe(shown);
});

test("[BLK-8] any chunks give the same and nothing else is lost", () => {
  const piece = fc.constantFrom("ab", "aab", "a", "b", "aa", "c");
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = pieces.join("");

      expect(filtered(pieces, "aab", "<>")).toBe(text.replace("aab", "<>"));
      expect(filtered(text.split(""), "aab", "<>")).toBe(text.replace("aab", "<>"));
    }),
    FUZZ,
  );
});

test("[BLK-8] what is held is let go on request, and an echo after that is still found", () => {
  const filter = new EchoFilter();
  filter.expect(Buffer.from("abc"), Buffer.from("X"));

  expect(Buffer.from(filter.push(Buffer.from("$ ab"))).toString()).toBe("$ ");
  expect(filter.held).toBe(2);
  expect(Buffer.from(filter.release()).toString()).toBe("ab");
  expect(Buffer.from(filter.push(Buffer.from("c abc"))).toString()).toBe("c X");
});

test("[BLK-8] once a command has begun nothing of its output is taken for the echo", () => {
  const filter = new EchoFilter();
  filter.expect(Buffer.from("abc"), Buffer.from("X"));

  expect(Buffer.from(filter.push(Buffer.from("ab"))).toString()).toBe("");
  expect(Buffer.from(filter.cancel()).toString()).toBe("ab");
  expect(Buffer.from(filter.push(Buffer.from("abc"))).toString()).toBe("abc");
});
