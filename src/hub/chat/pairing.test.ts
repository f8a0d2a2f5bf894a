import { expect, test } from "vitest";
import { workedMs } from "../../../test/support/worked.ts";
import { offeredCode, Pairing, PAIRING_MS } from "./pairing.ts";

const HOUR_MS = 3_600_000;

function pairing() {
  let now = 0;
  const it = new Pairing({ now: () => now });
  const invite = () => offeredCode(`pair ${it.invite("telegram").code}`) ?? "";
  return { pairing: it, invite, at: (ms: number) => (now = ms) };
}

test.each([
  { text: "/start ABCD-EFGH", code: "ABCDEFGH" },
  { text: "  /start@test_bot abcd-efgh ", code: "ABCDEFGH" },
  { text: "pair ABCDEFGH", code: "ABCDEFGH" },
  { text: "!start ABCD-EFGH", code: "ABCDEFGH" },
  { text: "/start", code: undefined },
  { text: "hello pair ABCD", code: undefined },
  { text: "pair us up please", code: undefined },
])("[CHN-104] $text offers $code", ({ text, code }) => {
  expect(offeredCode(text)).toBe(code);
});

test("[CHN-104] a code is good once, for ten minutes, on its own channel", () => {
  const { pairing: it, invite, at } = pairing();
  const [one, two, three] = [invite(), invite(), invite()];

  expect([it.redeem("telegram", one), it.redeem("telegram", one)]).toEqual([true, false]);
  expect([it.redeem("slack", two), it.redeem("telegram", two)]).toEqual([false, true]);
  at(PAIRING_MS);
  expect(it.redeem("telegram", three)).toBe(false);
});

test("[CHN-105] a hundred thousand guesses take no long time", () => {
  const { pairing: it } = pairing();

  const took = workedMs(() => {
    for (let guess = 0; guess < 100_000; guess += 1) it.redeem("telegram", "WRONG");
  });

  expect(took).toBeLessThan(5_000);
});

test("[CHN-105] ten wrong codes within an hour end all that are open", () => {
  const { pairing: it, invite, at } = pairing();
  const guess = (times: number): void => {
    for (let round = 0; round < times; round += 1) it.redeem("telegram", "WRONG");
  };
  guess(9);
  at(HOUR_MS);
  guess(9);
  const good = invite();
  expect(it.redeem("telegram", good)).toBe(true);

  const ended = invite();
  guess(1);
  expect(it.redeem("telegram", ended)).toBe(false);
});
