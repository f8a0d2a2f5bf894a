import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Sink } from "../../test/support/sink.ts";
import { ANN, BOT } from "../../test/support/terminal.ts";
import type { Actor } from "../domain/actor.ts";
import type { ControlFact } from "../domain/control.ts";
import { Gate } from "./gate.ts";
import { Stick } from "./stick.ts";

const CAT: Actor = { kind: "agent", id: "cat" };
const TEN_YEARS_MS = 10 * 365 * 86_400_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const grant = { type: "grant", by: ANN, agentId: "bot", leaseSeconds: 30, attend: true } as const;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A stick behind a gate before a sink, by a clock of its own, and everything that happens at them in its order. */
class Bench {
  readonly happened: string[] = [];
  readonly facts: ControlFact[] = [];
  readonly sink: Sink;
  readonly stick: Stick;
  readonly gate: Gate;
  /** What other clocks than the timers' have seen pass beside them. */
  asleepMs = 5_000;
  #number = 0;

  constructor() {
    this.sink = new Sink({
      took: (bytes) => this.happened.push(`took ${Buffer.from(bytes).toString()}`),
      record: (_payload, by) => this.happened.push(`input of ${by.id}`),
    });
    this.stick = new Stick({
      attended: false,
      mayAcquire: true,
      elapsed: () => performance.now() + this.asleepMs,
      tell: (fact) => {
        this.facts.push(fact);
        const { change, reason, intent, overdue, epoch } = fact.payload;
        const what = change === "holder" ? reason : (change ?? (overdue === true ? "overdue" : intent));
        return this.happened.push(`told ${what as string} ${epoch as number}`);
      },
      onAgentLost: () => {
        this.happened.push(`cleared ${this.sink.waiting} at ${this.stick.epoch}`);
        this.sink.clear();
      },
    });
    this.gate = new Gate(this.sink, this.stick);
  }

  /** By every clock but the wall's. */
  pass(ms: number): void {
    vi.advanceTimersByTime(ms);
  }

  type(by: Actor, text: string, epoch = this.stick.epoch): Promise<unknown> {
    this.#number += 1;
    const claim = { by, number: this.#number, ...(by.kind === "agent" ? { epoch } : {}) };
    return this.gate.input(claim, { bytes: Buffer.from(text), class: "drive" });
  }

  get reason(): string | null {
    return this.stick.state.reason;
  }
}

describe("leases", () => {
  test("[CTL-17, CTL-26] a lease ends by itself, and not a millisecond before", () => {
    const bench = new Bench();
    bench.stick.command(grant);

    bench.pass(29_999);
    expect(bench.stick.state.mode).toBe("AGENT");
    expect(bench.stick.covers(2)).toBe(true);
    bench.pass(1);

    expect(bench.stick.state).toMatchObject({ mode: "USER", holder: ANN, reason: "lease_expired", epoch: 3 });
    expect(bench.happened).toEqual(["told granted 2", "cleared 0 at 3", "told lease_expired 3"]);
  });

  test("[CTL-17] at its last moment a lease is over, whatever timers do", () => {
    const bench = new Bench();
    bench.stick.command(grant);

    bench.asleepMs += 29_999;
    expect(bench.stick.covers(2)).toBe(true);
    bench.asleepMs += 1;

    expect(bench.stick.covers(2)).toBe(false);
    expect(bench.reason).toBe("lease_expired");
  });

  test.each([TEN_YEARS_MS, -TEN_YEARS_MS])("[CTL-17] a wall clock that jumps by %d ms changes nothing", (jump) => {
    const bench = new Bench();
    bench.stick.command(grant);
    bench.pass(10_000);

    vi.setSystemTime(Date.now() + jump);
    expect(bench.stick.covers(2)).toBe(true);
    bench.stick.command({ type: "renew", by: BOT });
    bench.pass(29_999);
    expect(bench.stick.covers(2)).toBe(true);
    bench.pass(1);

    expect(bench.reason).toBe("lease_expired");
  });

  test("[CTL-17] time in suspend counts: the first write after it is refused", async () => {
    const bench = new Bench();
    bench.stick.command(grant);
    // No timer runs while the machine sleeps.
    bench.asleepMs += 3_600_000;

    await expect(bench.type(BOT, "late", 2)).rejects.toMatchObject({ code: "lease_expired" });
    expect(bench.happened).toEqual(["told granted 2", "cleared 0 at 3", "told lease_expired 3"]);
  });

  test("[CTL-17] a timer that fires early by another clock ends nothing", () => {
    const bench = new Bench();
    bench.stick.command(grant);

    bench.asleepMs -= 1_000;
    bench.pass(30_000);
    expect(bench.stick.state.mode).toBe("AGENT");
    bench.pass(1_000);

    expect(bench.reason).toBe("lease_expired");
  });

  test("[CTL-17] a lease that is longer than any timer neither ends at once nor is looked at all the time", () => {
    const bench = new Bench();
    bench.stick.command({ ...grant, leaseSeconds: (2 * LONGEST_TIMER_MS) / 1000 });

    bench.pass(LONGEST_TIMER_MS - 1);
    expect([bench.stick.state.mode, vi.getTimerCount()]).toEqual(["AGENT", 1]);
    bench.pass(LONGEST_TIMER_MS);
    expect(bench.stick.state.mode).toBe("AGENT");
    bench.pass(1);

    expect(bench.reason).toBe("lease_expired");
  });

  test("[CTL-10, CTL-17] renewing starts the clock anew, and a lease that is over stays over", () => {
    const bench = new Bench();
    bench.stick.command(grant);
    bench.pass(29_999);
    bench.stick.command({ type: "renew", by: BOT });
    bench.pass(29_999);
    expect(bench.stick.covers(2)).toBe(true);
    bench.asleepMs += 1;

    expect(() => bench.stick.command({ type: "renew", by: BOT })).toThrow(
      expect.objectContaining({ code: "lease_expired" }),
    );
    expect(bench.stick.covers(2)).toBe(false);
  });

  test("[CTL-17] what is closed has no timers left", () => {
    const bench = new Bench();
    bench.stick.command(grant);
    bench.stick.command({ type: "intent", by: ANN, intent: "SAFE_INTERRUPT" });

    bench.stick.close();

    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("what is covered", () => {
  test("[CTL-22, CTL-23] only the present epoch, and only while an agent has it", () => {
    const { stick } = new Bench();
    expect(stick.covers(1)).toBe(false);
    stick.command(grant);
    expect([1, 2, 3].map((epoch) => stick.covers(epoch))).toEqual([false, true, false]);
    stick.command({ type: "take", by: ANN });
    expect([2, 3].map((epoch) => stick.covers(epoch))).toEqual([false, false]);
    stick.command(grant);

    expect([2, 3, 4].map((epoch) => stick.covers(epoch))).toEqual([false, false, true]);
  });

  test("[CTL-7, CTL-23] requests from before an agent's own acquisition aren't late; those of another agent are", async () => {
    const bench = new Bench();

    await Promise.all([bench.type(BOT, "one", 1), bench.type(BOT, "two", 1)]);
    await expect(bench.type(CAT, "three", 1)).rejects.toMatchObject({ code: "stale_epoch" });
    bench.stick.command({ type: "take", by: ANN });
    bench.stick.command({ type: "release", by: ANN });

    await expect(bench.type(BOT, "four", 1)).rejects.toMatchObject({ code: "stale_epoch" });
    expect(bench.happened.filter((it) => it.startsWith("took"))).toEqual(["took one", "took two"]);
  });

  test("[CTL-22] an agent's input needs the stick, whatever it calls itself", async () => {
    const bench = new Bench();
    bench.stick.command({ type: "take", by: ANN });
    const claim = { by: BOT, epoch: bench.stick.epoch };

    for (const [number, as] of (["drive", "assist"] as const).entries()) {
      const input = { bytes: Buffer.from("x"), class: as, ifPrompt: "p" };
      await expect(bench.gate.input({ ...claim, number: number + 1 }, input)).rejects.toMatchObject({
        code: "control_refused",
      });
    }
    expect(bench.happened).not.toContain("took x");
  });

  test("[CTL-15] a person's answer to a prompt and an emulator's reply change neither holder nor epoch", async () => {
    const bench = new Bench();
    bench.stick.command(grant);

    await bench.gate.input({ by: ANN, number: 1 }, { bytes: Buffer.from("yes"), class: "assist", ifPrompt: "p" });
    bench.gate.reply(Buffer.from("\x1b[0n"));

    expect(bench.stick.state).toMatchObject({ mode: "AGENT", epoch: 2 });
    expect(bench.happened).toEqual(["told granted 2", "input of ann", "took yes", "took \x1b[0n"]);
  });
});

describe("the order of an override", () => {
  test("[CTL-14] epoch, queue, event, bytes", async () => {
    const bench = new Bench();
    await bench.type(BOT, "agent");
    bench.sink.reads = false;
    await bench.type(BOT, "0123456789abcdef");
    bench.happened.length = 0;

    const key = bench.type(ANN, "k");
    // Before it even has its turn.
    expect(bench.happened).toEqual(["cleared 16 at 3", "told user_input_override 3"]);
    await key;
    bench.sink.reads = true;

    expect(bench.happened).toEqual(["cleared 16 at 3", "told user_input_override 3", "input of ann", "took k"]);
  });

  test("[CTL-14, CTL-25] what waits for its turn at an override is refused, not kept", async () => {
    const bench = new Bench();
    bench.stick.command(grant);

    const first = bench.type(BOT, "1", 2);
    const second = bench.type(BOT, "2", 2);
    const key = bench.type(ANN, "k");

    await expect(first).rejects.toMatchObject({ code: "control_refused" });
    await expect(second).rejects.toMatchObject({ code: "control_refused" });
    await key;
    expect(bench.happened.filter((it) => it.startsWith("took"))).toEqual(["took k"]);
  });

  test("[CTL-22] the rest of an input is dropped the moment its lease is over, without a timer", async () => {
    const bench = new Bench();
    bench.stick.command(grant);
    bench.sink.reads = false;
    await bench.type(BOT, "01234567rest", 2);
    bench.happened.length = 0;

    bench.asleepMs += 30_000;
    bench.sink.reads = true;

    expect(bench.happened).toEqual(["cleared 12 at 3", "told lease_expired 3"]);
  });
});

describe("the times of agents", () => {
  test("[STP-4] are all remembered, however often an agent gives control up and takes it again", () => {
    const bench = new Bench();
    bench.pass(1_000);
    const first = performance.now() + bench.asleepMs;
    const act = { type: "act", by: BOT } as const;
    const cycles = Array.from({ length: 10_500 }, () => [act, { type: "release", by: BOT } as const]).flat();
    for (const command of cycles) {
      bench.pass(1);
      bench.stick.command(command);
    }
    const { agentTimes } = bench.stick;

    expect(agentTimes.length).toBeLessThanOrEqual(10_000);
    expect(agentTimes[0]?.from).toBe(first + 1);
    expect(agentTimes.at(-1)?.to).toBe(performance.now() + bench.asleepMs);
  });
});

describe("an interrupt that nobody heeds", () => {
  const interrupt = { type: "intent", by: ANN, intent: "SAFE_INTERRUPT" } as const;

  test("[CTL-30] is told after ten seconds, with what can be done", () => {
    const bench = new Bench();
    bench.stick.command(grant);
    bench.stick.command(interrupt);

    bench.pass(9_999);
    expect(bench.happened).not.toContain("told overdue 2");
    bench.pass(1);

    expect(bench.facts.at(-1)).toMatchObject({
      type: "intent",
      payload: { intent: "SAFE_INTERRUPT", overdue: true, offer: "STOP_NOW", control_mode: "AGENT" },
    });
  });

  test("[CTL-30] agents that ask meanwhile gain no time", () => {
    const bench = new Bench();
    bench.stick.command(grant);
    bench.stick.command(interrupt);
    bench.pass(6_000);
    bench.stick.command({ type: "request", by: CAT, reason: "me too" });
    bench.stick.command({ type: "attended", attended: true });
    bench.pass(4_000);

    expect(bench.happened.filter((it) => it === "told overdue 2")).toHaveLength(1);
  });

  test.each(["WAIT", "STOP_NOW"] as const)("[CTL-30] is told no more after %s", (intent) => {
    const bench = new Bench();
    bench.stick.command(grant);
    bench.stick.command(interrupt);
    bench.stick.command({ type: "intent", by: ANN, intent });
    bench.pass(20_000);

    expect(bench.happened).not.toContain("told overdue 2");
  });
});
