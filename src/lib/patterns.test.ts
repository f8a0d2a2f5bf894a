import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { DEADLINE_MS } from "../../test/support/deadline.ts";
import { eventually } from "../../test/support/eventually.ts";
import { PatternRefused, Patterns } from "./patterns.ts";

/** Patient: how long a busy machine takes for a pattern is not what most of these are about. */
const patterns = new Patterns({ deadlineMs: DEADLINE_MS });
afterAll(() => patterns.close());

/** Where the match begins takes minutes to find: hundreds of states for each of a million characters. */
const SLOW = "(x?y?z? ?\\n?){200}q$";
const TEXT = `${"xyz ".repeat(250_000)}q`;

test("[WAI-10] finds the leftmost match at or after a place, with ^ and $ at lines", async () => {
  expect(await patterns.find("^b+$", "ab\nbb\nb", 0)).toEqual([3, 5]);
  expect(await patterns.find("^b+$", "ab\nbb\nb", 4)).toEqual([6, 7]);
  expect(await patterns.find("c", "ab\nbb\nb", 0)).toBeUndefined();
  expect(await patterns.find("é+", "😀 éé", 0)).toEqual([3, 5]);
});

test.each([
  ["a.b", false],
  [String.raw`\d+$`, false],
  [String.raw`a\s`, true],
  ["[^x]", true],
  ["(?s)a.", true],
  ["a\n", true],
  [String.raw`\PL`, true],
  ["(?i)k[a-z]", false],
])("[WAI-10] %j crosses lines: %s", async (pattern, crossesLines) => {
  expect(await patterns.compile(pattern)).toEqual({ crossesLines });
});

test("[WAI-12] what would blow up elsewhere takes its time in proportion to the text", async () => {
  expect(await patterns.find("(a+)+$", `${"a".repeat(30_000)}!`, 0)).toBeUndefined();
  expect(await patterns.find("(a|a)*b", "a".repeat(30_000), 0)).toBeUndefined();
});

test("[WAI-12] an invalid pattern is refused with its fault", async () => {
  await expect(patterns.compile("(")).rejects.toThrow(PatternRefused);
  await expect(patterns.find("a**", "a", 0)).rejects.toThrow("invalid nested repetition operator");
});

test("[WAI-13] a pattern that takes too long is refused in time, and the others never wait for it", async () => {
  const strict = new Patterns();
  onTestFinished(() => strict.close());
  await strict.compile("a");
  const beganAt = performance.now();
  const slow = strict.find(SLOW, TEXT, 0).then(
    () => 0,
    (error: unknown) => {
      expect(error).toEqual(new PatternRefused("it takes too long"));
      return performance.now() - beganAt;
    },
  );
  expect(await strict.find("b", "abc", 0)).toEqual([1, 2]);
  expect(await slow).toBeGreaterThanOrEqual(190);
  expect(await strict.find("c", "abc", 0)).toEqual([2, 3]);
});

test("[WAI-13] of a try's time a machine that stood still takes a part: one timer is over, whatever the clock says", async () => {
  const strict = new Patterns();
  onTestFinished(() => strict.close());
  await strict.compile("a");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let isOver = false;
  const slow = strict
    .find(SLOW, TEXT, 0)
    .catch((error: unknown) => error)
    .finally(() => (isOver = true));

  vi.advanceTimersToNextTimer();
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  const wasOver = isOver;
  vi.advanceTimersByTime(200);

  expect(wasOver).toBe(false);
  expect(await slow).toEqual(new PatternRefused("it takes too long"));
});

test("[WAI-13] refusals of more patterns than there are threads reach each caller", async () => {
  const short = new Patterns({ deadlineMs: 50 });
  const slow = [1, 2, 3, 4].map((it) => short.find(`${SLOW}|${it}`, TEXT, 0).catch((error: unknown) => error));
  for (const outcome of await Promise.all(slow)) {
    expect(outcome).toEqual(new PatternRefused("it takes too long"));
  }
  // On a busy machine even this one may take longer than these patterns have.
  await eventually(async () => expect(await short.find("a", "a", 0)).toEqual([0, 1]));
  await short.close();
  await expect(short.find("a", "a", 0)).rejects.toThrow("closed");
});
