import { expect, test } from "vitest";
import { shownText } from "./shown-text.ts";

test.each([
  ["an escape", "\u001B[2Ka", "\\u{1b}[2Ka"],
  ["a carriage return", "rm\rls", "rm\\u{d}ls"],
  ["a bidirectional override", "a\u202Eb", "a\\u{202e}b"],
  ["a zero-width space", "r\u200Bm", "r\\u{200b}m"],
  ["a blank that is no space", "a\u00A0b", "a\\u{a0}b"],
  ["a variation selector beyond the first plane", "a\u{E0100}", "a\\u{e0100}"],
  ["a musical format character", "a\u{1D173}", "a\\u{1d173}"],
  ["a shorthand format character", "a\u{1BCA0}", "a\\u{1bca0}"],
  ["a filler", "a\u3164", "a\\u{3164}"],
  ["half of a pair", "a\uD800", "a\\u{d800}"],
])("[APR-10] %s is shown", (_, text, shown) => {
  expect(shownText(text)).toBe(shown);
});

test("[APR-10] ordinary text of any language, line ends and tabs stay", () => {
  const text = "echo 'größe 日本 ✓' |\n\tcat";

  expect(shownText(text)).toBe(text);
});
