/** Random histories of an `EventLog` against the simplest log there is: a list. Rules in docs/spec/log.md. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type EventType, type NewEvent, retentionOf } from "../domain/event.ts";
import { ANN, BOB, type OpenLog, TestLog } from "../../test/store/test-log.ts";
import { soakCount } from "../../test/support/soak.ts";

const RUNS = soakCount(200);
const SEED = Number(process.env["SIDESTICK_SEED"] ?? Date.now() % 2 ** 31);

type Step =
  | { do: "append"; stream: string; expected: "right" | "any" | number; types: EventType[]; power: boolean }
  | { do: "prune"; activityAgeMs: number; auditAgeMs: number; keepAnn: boolean }
  | { do: "wait"; ms: number }
  | { do: "reopen" };

type Kept = { sequence: number; stream: string; type: EventType; at: number };

const stream = fc.constantFrom(ANN, BOB);
const type = fc.constantFrom<EventType>("stdout", "status", "token", "input");
const append = fc.record({
  do: fc.constant("append" as const),
  stream,
  expected: fc.oneof(fc.constant("right" as const), fc.constant("any" as const), fc.nat(50)),
  types: fc.array(type, { maxLength: 13 }),
  power: fc.boolean(),
});
const age = fc.nat(50);
const prune = fc.record({
  do: fc.constant("prune" as const),
  activityAgeMs: age,
  auditAgeMs: age,
  keepAnn: fc.boolean(),
});
const wait = fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: -5, max: 30 }) });
const reopen = fc.record({ do: fc.constant("reopen" as const) });
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: append },
    { weight: 2, arbitrary: wait },
    { weight: 1, arbitrary: prune },
    { weight: 1, arbitrary: reopen },
  ),
  { minLength: 5, maxLength: 60 },
);

export function eventLogModelContract(open: OpenLog): void {
  test(`[LOG-1, LOG-2, LOG-3, LOG-6, LOG-7, LOG-9, LOG-22] any history reads back as a list would (seed ${SEED})`, async () => {
    const history = fc.asyncProperty(steps, async (taken) => {
      const it = await TestLog.open(open);
      const model = new Model();
      for (const step of taken) await model.take(it, step);
      await model.compare(it);
    });
    await fc.assert(history, { seed: SEED, numRuns: RUNS });
  });
}

class Model {
  #kept: Kept[] = [];
  #versions = new Map<string, number>();
  #head = 0;
  #at = 0;
  #storedAt = 0;

  async take(it: TestLog, step: Step): Promise<void> {
    switch (step.do) {
      case "append":
        return await this.#append(it, step);
      case "prune":
        return await this.#prune(it, step);
      case "wait":
        it.now += step.ms;
        return;
      case "reopen":
        this.#at = this.#storedAt; // an append that stored nothing is forgotten, and the time of it
        return await it.reopen();
    }
  }

  async compare(it: TestLog): Promise<void> {
    expect(it.log.head).toBe(this.#head);
    const visible = this.#kept.filter((event) => retentionOf(event.type) !== "housekeeping");
    const read = await it.log.read({ limit: 5_000 });
    const found = read.map(({ sequence, sessionId, type, timestamp }) => ({
      sequence,
      stream: sessionId,
      type,
      at: Date.parse(timestamp),
    }));
    expect(found).toEqual(visible);
    const tokens = await it.log.read({ limit: 5_000, sessionId: ANN, types: ["token", "input"] });
    const ofAnn = this.#kept.filter(
      (event) => event.stream === ANN && (event.type === "token" || event.type === "input"),
    );
    expect(tokens.map((event) => event.sequence)).toEqual(ofAnn.map((event) => event.sequence));
  }

  async #append(it: TestLog, step: Step & { do: "append" }): Promise<void> {
    const version = this.#versions.get(step.stream) ?? 0;
    const expected = step.expected === "right" ? version : step.expected;
    const events = step.types.map((name): NewEvent => ({
      type: name,
      payload: { name },
      source: { kind: "host", id: "h" },
    }));
    this.#at = Math.max(this.#at, it.now);
    const appended = await it.log.append(step.stream, expected, events, step.power ? "power" : "process");
    if (expected !== "any" && expected !== version) {
      expect(appended).toEqual({ ok: false, version });
      return;
    }
    for (const name of step.types) {
      this.#head += 1;
      this.#versions.set(step.stream, this.#head);
      this.#storedAt = this.#at;
      this.#kept.push({ sequence: this.#head, stream: step.stream, type: name, at: this.#at });
    }
    expect(appended.ok && appended.events.map((event) => event.sequence)).toEqual(
      step.types.map((_, index) => this.#head - step.types.length + 1 + index),
    );
  }

  async #prune(it: TestLog, step: Step & { do: "prune" }): Promise<void> {
    const bytes = { activityMaxBytes: 1e9, auditMaxBytes: 1e9 };
    const keep = new Set(step.keepAnn ? [ANN] : []);
    const pruned = await it.log.prune({
      activityMaxAgeMs: step.activityAgeMs,
      auditMaxAgeMs: step.auditAgeMs,
      keep,
      keepEvents: new Set(),
      ...bytes,
    });
    const isActivity = (event: Kept): boolean => retentionOf(event.type) === "activity";
    const goes = (event: Kept): boolean =>
      isActivity(event)
        ? event.at < it.now - step.activityAgeMs
        : event.at < it.now - step.auditAgeMs && !(keep.has(event.stream) && event.type === "status");
    const gone = this.#kept.filter(goes);
    this.#kept = this.#kept.filter((event) => !goes(event));
    const activity = gone.filter(isActivity).length;
    expect(pruned).toEqual({ activity, audit: gone.length - activity });
  }
}
