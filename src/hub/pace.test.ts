import { expect, test } from "vitest";
import { PACE } from "./pace.ts";

test("[CNV-21, CNV-22, PMT-95, CHN-21, PMT-145] the product waits 5 s for a program to settle, collects output for 2 s and a plan for 1 s", () => {
  expect(PACE).toEqual({ settledMs: 5_000, batchMs: 2_000, planMs: 1_000, answer: {} });
});
