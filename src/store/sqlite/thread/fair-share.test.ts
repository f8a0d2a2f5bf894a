import { expect, test } from "vitest";
import { cutsOf } from "./fair-share.ts";

test.each([
  { held: [10, 20, 30], limit: 60, cuts: [] },
  { held: [10, 20, 1_000], limit: 60, cuts: [[2, 970]] },
  {
    held: [10, 500, 400],
    limit: 110,
    cuts: [
      [1, 450],
      [2, 350],
    ],
  },
  {
    held: [10, 10],
    limit: 0,
    cuts: [
      [0, 10],
      [1, 10],
    ],
  },
  { held: [], limit: 0, cuts: [] },
])("[LOG-9] of $held with room for $limit the largest give up $cuts", ({ held, limit, cuts }) => {
  expect([...cutsOf(new Map(held.entries()), limit)]).toEqual(cuts);
});
