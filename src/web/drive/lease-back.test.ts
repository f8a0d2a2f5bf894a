import { expect, test } from "vitest";
import { leaseBack } from "./lease-back.ts";

test.each([
  { what: "there was no lease", endsAt: undefined, seconds: 300 },
  { what: "two minutes were left", endsAt: 121_000, seconds: 120 },
  { what: "a moment was left", endsAt: 2_000, seconds: 30 },
  { what: "the clock was set forward a day", endsAt: -86_400_000, seconds: 30 },
  { what: "the clock was set back a day", endsAt: 86_400_000, seconds: 3600 },
  { what: "the end is no time", endsAt: Number.NaN, seconds: 300 },
])("[WEB-24] what is handed back is a lease that the hub takes: $what", ({ endsAt, seconds }) => {
  expect(leaseBack(endsAt, 1_000)).toBe(seconds);
});
