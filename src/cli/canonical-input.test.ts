import { expect, test } from "vitest";
import { keyInput, lineInput } from "./canonical-input.ts";

test.each([
  { given: "a\nb\n", typed: "a\nb\n" },
  { given: "a\r\n\u0003\u007f", typed: "a\u0016\r\n\u0016\u0003\u0016\u007f\u0004" },
  { given: "", typed: "" },
  { given: `${"x".repeat(4000)}\n`, typed: `${"x".repeat(4000)}\n` },
  { given: "x".repeat(8001), typed: `${"x".repeat(4000)}\u0004${"x".repeat(4000)}\u0004x\u0004` },
  { given: "grün\n", typed: "grün\n" },
])("[TCL-26] lines are typed so that they arrive as they are: %#", ({ given, typed }) => {
  expect(lineInput(Buffer.from(given)).toString()).toBe(typed);
});

test("[TCL-26] a program that reads keys gets Enter for a line's end", () => {
  expect(keyInput(Buffer.from("a\nb\r\nc")).toString()).toBe("a\rb\rc");
});
