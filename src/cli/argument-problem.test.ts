import { parseArgs } from "node:util";
import { expect, test } from "vitest";
import { argumentProblem } from "./argument-problem.ts";

test.each([
  {
    args: ["--code", "-x"],
    told: "Option '--code' argument is ambiguous: a value that begins with a dash is written --code=-...",
  },
  { args: ["--code"], told: "Option '--code <value>' argument missing" },
  { args: ["--cod"], told: "Unknown option '--cod'" },
])("[CLI-2] what is wrong with $args is said in a sentence", ({ args, told }) => {
  const problem = ((): unknown => {
    try {
      return parseArgs({ args, options: { code: { type: "string" } }, strict: true });
    } catch (error) {
      return error;
    }
  })();

  expect(argumentProblem(problem)).toBe(told);
});
