import { expect, test } from "vitest";
import { classifyPrompt } from "../../src/domain/prompts/classifier.ts";
import { routeOutput } from "../../src/domain/prompts/output-router.ts";
import { detectPlan } from "../../src/domain/prompts/plan-detector.ts";
import { workedMs } from "../support/worked.ts";

const BOUND_MS = 250;
const UNITS = [
  "y/",
  " ",
  "(a)",
  "1) a  ",
  "[y",
  "~/a@b",
  "❯ a",
  "password ",
  "漢",
  "A a enter ",
  "plan for a ",
  "the ",
  "│ ",
];

/** The best of three: the first one may be compiled meanwhile. */
function timeOf(work: () => unknown): number {
  return Math.min(...[1, 2, 3].map(() => workedMs(work)));
}

test.each(UNITS)("[PMT-21] a screen full of %j takes no long time", (unit) => {
  const lines = Array.from({ length: 500 }, () => unit.repeat(5_000));
  const text = lines.slice(0, 40).join("\n");
  const times = (["line", "line_editor", "none"] as const).map((kind) =>
    timeOf(() => classifyPrompt({ lines }, { kind, confidence: "high", program: "x", canonical: kind === "line" })),
  );

  expect(Math.max(...times)).toBeLessThan(BOUND_MS);
  expect(timeOf(() => routeOutput(text.slice(0, 100_000), { showRaw: false }))).toBeLessThan(BOUND_MS);
  expect(timeOf(() => detectPlan(text.slice(0, 100_000)))).toBeLessThan(BOUND_MS);
});
