import { expect, test } from "vitest";
import { hasControls, needsLook, pasteable, withoutControls } from "./paste-text.ts";

test.each([
  ["one line", false],
  ["grüße 日本 🙂", false],
  ["two\nlines", true],
  ["ends with Enter\r", true],
  ["a tab\there", true],
  ["esc \u001b[31m", true],
  ["c1 \u009b31m", true],
  ["reordered \u202e gnp", true],
  ["zero\u200bwidth", true],
])("[WEB-34] %j is shown first: %s", (text, isShown) => {
  expect(needsLook(text)).toBe(isShown);
});

test("[WEB-34] a paste can't end its brackets from inside, whatever is nested in what", () => {
  expect(pasteable("a\u001b[201~rm -rf\r\u001b[20\u001b[201~1~b\u009b200~c")).toBe("arm -rf\rbc");
});

test("[WEB-34] control characters are taken out on demand, line ends stay", () => {
  const text = "a\u001b[1mb\r\n\tc\u0000\u200bd";

  expect([hasControls(text), hasControls("a\n\tb")]).toEqual([true, false]);
  expect(withoutControls(text)).toBe("a[1mb\r\n\tcd");
});
