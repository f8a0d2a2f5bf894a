import { expect, test } from "vitest";
import { Silence } from "./silence.ts";

test("[HST-20] silence is counted from look to look, and ends with whatever comes", () => {
  const silence = new Silence(2_000, 0);

  const before = [2_000, 4_000, 6_000].map((now) => silence.look(now));
  silence.end();

  expect([before, silence.look(7_000)]).toEqual([[2_000, 4_000, 6_000], 1_000]);
});

test("[HST-20] an end that stood still counts one look of that time", () => {
  const silence = new Silence(2_000, 0);

  expect([silence.look(2_000), silence.look(60_000), silence.look(62_000)]).toEqual([2_000, 4_000, 6_000]);
});
