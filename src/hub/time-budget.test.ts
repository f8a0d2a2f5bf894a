import { expect, test } from "vitest";
import { TimeBudgets } from "./time-budget.ts";

function budgets() {
  let [now, worked] = [0, 0];
  const spend = new TimeBudgets({ burstMs: 100, share: 0.1 }, { now: () => now, worked: () => worked });
  const pass = (ms: number) => (now += ms);
  const work = (ms: number) => {
    pass(ms);
    worked += ms;
  };
  const busy = (key: string, ms: number) => spend.spend(key, () => work(ms));
  return { spend, busy, pass, work };
}

test("[POL-7] who has spent too much waits until it has come back, and nobody else", () => {
  const { spend, busy, pass } = budgets();

  busy("bot", 90);
  expect(spend.waitFor("bot")).toBe(0);
  busy("bot", 60);

  expect(spend.waitFor("bot")).toBeGreaterThan(400);
  expect(spend.waitFor("other")).toBe(0);
  pass(500);
  expect(spend.waitFor("bot")).toBe(0);
});

test("[POL-7] what fails counts too", () => {
  const { spend, work } = budgets();
  const failing = () =>
    spend.spend("bot", () => {
      work(300);
      throw new Error("no");
    });

  expect(failing).toThrow("no");
  expect(spend.waitFor("bot")).toBeGreaterThan(0);
});

test("[POL-7] while the machine stands still nobody spends anything", () => {
  const { spend, pass } = budgets();

  spend.spend("bot", () => pass(2_000));

  expect(spend.waitFor("bot")).toBe(0);
});

test("[POL-7] what is spent is time of this thread", () => {
  const spend = new TimeBudgets({ burstMs: 100, share: 1e-9 });

  spend.spend("bot", () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300));
  expect(spend.waitFor("bot")).toBe(0);
  for (let round = 0; round < 1_000 && spend.waitFor("bot") === 0; round += 1) {
    spend.spend("bot", () => "x".repeat(100_000).split("").toReversed().join(""));
  }

  expect(spend.waitFor("bot")).toBeGreaterThan(0);
});
