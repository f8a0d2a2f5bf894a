import { expect, test } from "vitest";
import { GatheredBody } from "./gathered-body.ts";
import { BODY_MAX, PARTS_MAX } from "./link.ts";

/** After so many parts. */
function gathered(count: number, part: () => Uint8Array): GatheredBody {
  const body = new GatheredBody();
  for (let added = 0; added < count; added += 1) body.add(part());
  return body;
}

test("[RML-22] what is as long as it may be comes whole in full parts", () => {
  const body = gathered(PARTS_MAX / BODY_MAX, () => new Uint8Array(BODY_MAX).fill(7));

  expect([body.isTooLarge, body.whole().length, body.whole().at(-1)]).toEqual([false, PARTS_MAX, 7]);
});

const HALF = new Uint8Array(BODY_MAX / 2);
const OF_LARGE_MESSAGE = new Uint8Array(1024 * 1024).subarray(0, 1);

test.each([
  { what: "empty parts", part: new Uint8Array(0), count: 200_000 },
  { what: "parts of a byte", part: new Uint8Array(1), count: 200_000 },
  { what: "small parts of large messages", part: OF_LARGE_MESSAGE, count: 40 },
  { what: "more bytes than a body may have", part: HALF, count: (2 * PARTS_MAX) / BODY_MAX + 1 },
])("[RML-22, RML-23] $what are not kept without end", ({ part, count }) => {
  const body = gathered(count, () => part);

  expect([body.isTooLarge, body.cost]).toEqual([true, 0]);
});
