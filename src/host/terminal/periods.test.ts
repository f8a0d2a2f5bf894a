import { expect, test } from "vitest";
import { bounded } from "./periods.ts";

const TIMES = [{ from: 0, to: 10 }, { from: 20, to: 30 }, { from: 31, to: 40 }, { from: 60 }];

test("[STP-4] the two nearest of too many times become one", () => {
  expect(bounded(TIMES, 4)).toBe(TIMES);
  expect(bounded(TIMES, 3)).toEqual([{ from: 0, to: 10 }, { from: 20, to: 40 }, { from: 60 }]);
  expect(bounded(TIMES, 1)).toEqual([{ from: 0 }]);
});
