import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../../test/support/temporary.ts";
import { takeBeginning } from "./inquiry.ts";

const MAX = 1024 * 1024;

test.each([
  { bytes: 0, taken: undefined },
  { bytes: MAX, taken: MAX },
  { bytes: MAX + 1, taken: undefined },
])("[GRD-29] of what a shell wrote, $bytes bytes are taken as $taken", async ({ bytes, taken }) => {
  const directory = await temporaryDirectory();
  writeFileSync(join(directory, "began"), "x".repeat(bytes));

  expect(takeBeginning(directory)?.length).toBe(taken);
  expect(takeBeginning(directory)).toBeUndefined();
});
