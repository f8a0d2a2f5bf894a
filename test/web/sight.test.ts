import { expect, test } from "vitest";
import type { Asked } from "../../src/web/model/pending.ts";
import { NOTHING_SEEN, type Sight, sightAfter } from "../../src/web/inbox/use-shown.ts";

const asked = (at: number, waits = true): Asked =>
  ({ key: `k${at}`, at, waits, sessionId: "s", kind: "prompt" }) as Asked;
const shown = ({ cards }: Sight): string[] =>
  [...cards.values()].map(({ key, waits }) => `${key}${waits ? "" : " over"}`);

test("[WEB-42] a decided card stays in its place, also when the world has forgotten it; what was over before isn't shown", () => {
  const first = sightAfter(NOTHING_SEEN, [asked(1, false), asked(2), asked(3)]);
  const second = sightAfter(first, [asked(1, false), asked(2, false), asked(3), asked(4)]);
  const third = sightAfter(second, [asked(3), asked(4)]);

  expect([first, second, third].map(shown)).toEqual([
    ["k2", "k3"],
    ["k2 over", "k3", "k4"],
    ["k2 over", "k3", "k4"],
  ]);
});

test("[WEB-42] of the decided ones those go first that were decided first, not those that were asked first", () => {
  const ids = [1, 2, 3, 4, 5, 6, 7];
  const decidedInTurn = [2, 3, 4, 5, 6, 1];
  const states = decidedInTurn.map((_, step) => decidedInTurn.slice(0, step + 1));

  const last = states.reduce(
    (sight, over) =>
      sightAfter(
        sight,
        ids.map((id) => asked(id, !over.includes(id))),
      ),
    sightAfter(
      NOTHING_SEEN,
      ids.map((id) => asked(id)),
    ),
  );

  expect(shown(last)).toEqual(["k1 over", "k3 over", "k4 over", "k5 over", "k6 over", "k7"]);
});
