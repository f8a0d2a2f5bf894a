import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  beginInjection,
  type Injection,
  type InjectionOrder,
  type Observation,
  observeInjection,
  printedBeyondEcho,
} from "./injection.ts";
import { buildPlan } from "./plan-table.ts";

const LINE: InjectionOrder = { plan: buildPlan("YES_NO"), writes: ["y\r"], repeatable: true };
const APART: InjectionOrder = { plan: buildPlan("FREE_TEXT"), writes: ["Bob", "\r"], repeatable: false };

const at = (time: number, waits: Observation["waits"], printed = false): Observation => ({ at: time, waits, printed });

/** Everything that was written and told over these observations, and how it ended. */
function run(
  order: InjectionOrder,
  seen: readonly Observation[],
): { readonly writes: string[]; readonly told: string[]; readonly state: Injection } {
  const first = beginInjection(order, 0);
  const writes = first.write === undefined ? [] : [first.write];
  const told: string[] = [...first.tell];
  let { state } = first;
  for (const it of seen) {
    const step = observeInjection(state, order, it);
    if (step.write !== undefined) writes.push(step.write);
    told.push(...step.tell);
    state = step.state;
  }
  return { writes, told, state };
}

describe("one write", () => {
  test("[PMT-70, PMT-71] is typed once, and a reader that has gone has advanced", () => {
    expect(run(LINE, [at(100, "nobody")])).toEqual({
      writes: ["y\r"],
      told: ["sent", "advanced"],
      state: { phase: "done", outcome: "advanced", retries: 0 },
    });
  });

  test("[PMT-71] a program that answered within 1 ms with its next question gets nothing more", () => {
    const seen = [at(1, "other"), at(6_000, "other"), at(9_000, "same"), at(20_000, "same")];
    expect(run(LINE, seen).writes).toEqual(["y\r"]);
  });

  test("[PMT-72] a stall is told, tried once more, and left to a person", () => {
    const seen = [
      at(4_999, "same"),
      at(5_000, "same"),
      at(6_999, "same"),
      at(7_000, "same"),
      at(11_999, "same"),
      at(12_000, "same"),
    ];
    expect(run(LINE, seen)).toEqual({
      writes: ["y\r", "y\r"],
      told: ["sent", "retrying", "escalated"],
      state: { phase: "done", outcome: "escalated", retries: 1 },
    });
  });

  test("[PMT-72, PMT-71] a question that came up during the delay is not answered by the retry", () => {
    expect(run(LINE, [at(5_000, "same"), at(7_000, "other")])).toEqual({
      writes: ["y\r"],
      told: ["sent", "retrying", "advanced"],
      state: { phase: "done", outcome: "advanced", retries: 0 },
    });
  });

  test("[PMT-73] a password is never typed twice", () => {
    const order = { ...LINE, plan: buildPlan("PASSWORD_INPUT"), writes: ["hunter2\r"] };
    expect(run(order, [at(5_000, "same"), at(7_000, "same"), at(30_000, "same")])).toEqual({
      writes: ["hunter2\r"],
      told: ["sent", "escalated"],
      state: { phase: "done", outcome: "escalated", retries: 0 },
    });
  });

  test("[PMT-75] where nobody can look, output is an advance and silence is told", () => {
    expect(run(LINE, [at(300, "unknown", true)]).told).toEqual(["sent", "advanced"]);
    expect(run(LINE, [at(5_000, "unknown"), at(7_000, "unknown")])).toMatchObject({
      writes: ["y\r"],
      told: ["sent", "escalated"],
    });
  });

  test("[PMT-75] a question that can't be seen any more is not answered by the retry", () => {
    expect(run(LINE, [at(5_000, "same"), at(7_000, "unknown")])).toMatchObject({
      writes: ["y\r"],
      told: ["sent", "retrying", "escalated"],
    });
  });

  test("[PMT-79] a question that stands is not answered again where anything was printed since", () => {
    const told = ["sent", "escalated"];
    expect(run(LINE, [at(5_000, "same", true), at(7_000, "same", true)])).toMatchObject({ writes: ["y\r"], told });
    expect(run(LINE, [at(5_000, "same"), at(7_000, "same", true), at(9_000, "same")])).toMatchObject({
      writes: ["y\r"],
      told: ["sent", "retrying", "escalated"],
    });
  });

  test("[PMT-40] chat text is sent and not waited for", () => {
    const order = { ...LINE, plan: buildPlan("CHAT_INPUT") };
    expect(run(order, [])).toMatchObject({ told: ["sent"], state: { phase: "done", outcome: "sent" } });
  });
});

describe("text and Enter apart", () => {
  test("[PMT-70] Enter follows while the question stands", () => {
    expect(run(APART, [at(50, "same"), at(90, "nobody")])).toMatchObject({
      writes: ["Bob", "\r"],
      told: ["sent", "advanced"],
    });
  });

  test("[PMT-70, PMT-71] a program that took the key alone gets no Enter into its next question", () => {
    expect(run(APART, [at(50, "other")])).toMatchObject({ writes: ["Bob"], told: ["taken", "advanced"] });
  });

  test("[PMT-67] where the question can't be told to stand there is no Enter, and that is told", () => {
    expect(run(APART, [at(50, "unknown"), at(4_999, "unknown"), at(5_000, "unknown"), at(6_000, "same")])).toEqual({
      writes: ["Bob"],
      told: ["unfinished"],
      state: { phase: "done", outcome: "escalated", retries: 0 },
    });
  });

  test("[PMT-74] what went in apart is not repeated", () => {
    expect(run(APART, [at(50, "same"), at(5_050, "same"), at(8_000, "same")])).toMatchObject({
      writes: ["Bob", "\r"],
      told: ["sent", "escalated"],
    });
  });
});

test("[PMT-77, PMT-79] over any observations nothing is written into another question, and at most one answer too many", () => {
  const seen = fc.record({
    at: fc.nat({ max: 4_000 }),
    waits: fc.constantFrom<Observation["waits"][]>("same", "other", "nobody", "unknown"),
    printed: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.constantFrom(LINE, APART, { ...LINE, plan: buildPlan("PASSWORD_INPUT") }),
      fc.array(seen, { maxLength: 30 }),
      (order, steps) => {
        let { state } = beginInjection(order, 0);
        let time = 0;
        let begins = 1;
        for (const step of steps) {
          time += step.at;
          const next = observeInjection(state, order, { ...step, at: time });
          if (next.write !== undefined) {
            expect(step.waits).toBe("same");
            if (next.write === order.writes[0]) expect(step.printed).toBe(false);
            if (next.write === order.writes[0]) begins += 1;
          }
          state = next.state;
        }
        expect(begins).toBeLessThanOrEqual(1 + order.plan.maxRetries);
      },
    ),
  );
});

test("[PMT-76] only the exact echo of what was typed is no sign of life", () => {
  expect(printedBeyondEcho("", "y\r")).toBe(false);
  expect(printedBeyondEcho("y", "y\r")).toBe(false);
  expect(printedBeyondEcho("y\r\n", "y\r")).toBe(false);
  expect(printedBeyondEcho("y\r\nOverwrite b? ", "y\r")).toBe(true);
  expect(printedBeyondEcho("Overwrite b? ", "y\r")).toBe(true);
});
