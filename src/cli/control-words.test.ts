import { expect, test } from "vitest";
import { receiptWords } from "./control-words.ts";

test.each([
  [{ failed: "Error: no" }, "what was killed is not known (Error: no)"],
  [{}, "what was killed is not known (the host didn't say)"],
  [{ killed: [{ pid: 7, program: "sleep" }] }, "killed: sleep (7); dropped: nothing"],
])("[RML-24] a receipt that lacks what it should say is told as far as it goes: %j", (receipt, words) => {
  expect(receiptWords(receipt)).toBe(words);
});
