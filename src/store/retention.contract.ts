/** What every `EventLog` promises about what it removes. Rules LOG-8..LOG-10 and LOG-22 in docs/spec/log.md. */
import { describe, expect, test } from "vitest";
import { CursorExpired, type EventLog, type Retention } from "../hub/ports.ts";
import { HUB_STREAM } from "../domain/event.ts";
import { ANN, BOB, type OpenLog, output, request, status, TestLog, TOKEN } from "../../test/store/test-log.ts";

const HOUR = 3_600_000;

const EVERYTHING: Retention = {
  activityMaxAgeMs: 24 * HOUR,
  activityMaxBytes: 1e9,
  auditMaxAgeMs: 24 * HOUR,
  auditMaxBytes: 1e9,
  keep: new Set(),
  keepEvents: new Set(),
};

const NOTHING: Retention = { ...EVERYTHING, activityMaxBytes: 0, auditMaxBytes: 0 };

export function retentionContract(open: OpenLog): void {
  describe("retention", () => {
    ageContract(open);
    bytesContract(open);
    fairnessContract(open);
    cursorContract(open);
    readerContract(open);
    afterwardsContract(open);
  });
}

function ageContract(open: OpenLog): void {
  test("[LOG-9] events go by age, activity and audit apart", async () => {
    const it = await TestLog.open(open);
    await it.log.append(ANN, "any", [output("old"), status("old"), TOKEN], "process");
    it.now += 2 * HOUR;
    await it.log.append(ANN, "any", [output("new"), status("new")], "process");

    expect(await it.log.prune({ ...EVERYTHING, activityMaxAgeMs: HOUR })).toEqual({ activity: 1, audit: 0 });
    expect(await kept(it.log)).toEqual([2, 3, 4, 5]);
    expect(await it.log.prune({ ...EVERYTHING, auditMaxAgeMs: HOUR })).toEqual({ activity: 0, audit: 2 });
    expect(await kept(it.log)).toEqual([4, 5]);
  });

  test("[LOG-22] the state of a live stream stays whatever its age, nothing else of it, and goes when it is over", async () => {
    const it = await TestLog.open(open);
    await it.log.append(ANN, "any", [output("1"), status("2"), TOKEN, request("4")], "process");
    await it.log.append(BOB, "any", [output("5"), status("6"), TOKEN], "process");
    it.now += 2 * HOUR;
    const old: Retention = { ...EVERYTHING, activityMaxAgeMs: HOUR, auditMaxAgeMs: HOUR };

    expect(await it.log.prune({ ...old, keep: new Set([ANN]) })).toEqual({ activity: 2, audit: 4 });
    expect(await kept(it.log)).toEqual([2]);
    expect(await it.log.prune(old)).toEqual({ activity: 0, audit: 1 });
    expect(await kept(it.log)).toEqual([]);
  });

  test("[LOG-22] events that something waits for stay whatever their age and stream", async () => {
    const it = await TestLog.open(open);
    await it.log.append(ANN, "any", [request("1"), request("2"), status("3")], "process");

    expect(await it.log.prune({ ...NOTHING, keepEvents: new Set([2]) })).toEqual({ activity: 0, audit: 2 });
    expect(await kept(it.log)).toEqual([2]);
  });

  test("[LOG-22] so does a question that something waits for, over a restart, and goes when nothing does", async () => {
    const it = await TestLog.open(open);
    const question = { ...output("a"), type: "prompt" } as const;
    const asked = Array.from({ length: 600 }, () => question);
    await it.log.append(ANN, "any", [output("1"), question, output("3"), ...asked, output("604")], "process");
    const waitedFor = new Set([2, ...asked.map((_, index) => index + 4)]);

    expect(await it.log.prune({ ...NOTHING, keepEvents: waitedFor })).toEqual({ activity: 3, audit: 0 });
    await it.reopen();
    expect(await it.log.prune({ ...NOTHING, keepEvents: new Set([2, 5]) })).toEqual({ activity: 599, audit: 0 });
    expect(await kept(it.log)).toEqual([2, 5]);
    expect(await it.log.prune(EVERYTHING)).toEqual({ activity: 2, audit: 0 });
  });
}

function bytesContract(open: OpenLog): void {
  test("[LOG-9] events go by bytes, the oldest first, and a flood of output takes no decision with it", async () => {
    const it = await TestLog.open(open);
    const big = "x".repeat(10_000);
    await it.log.append(ANN, "any", [status(big), output(big), output("2")], "process");
    for (let index = 0; index < 100; index += 1) await it.write(ANN, ...Array.from({ length: 10 }, () => big));

    const pruned = await it.log.prune({ ...EVERYTHING, activityMaxBytes: 500_000, auditMaxBytes: 20_000 });

    const left = await kept(it.log);
    expect(pruned).toEqual({ activity: 1_003 - left.length, audit: 0 });
    expect(left.length).toBeGreaterThan(40);
    expect(left.length).toBeLessThan(52);
    expect(left).toEqual([
      1,
      ...Array.from({ length: left.length - 1 }, (_, index) => 1_004 - left.length + 1 + index),
    ]);
    expect(await it.log.prune({ ...EVERYTHING, activityMaxBytes: 500_000 })).toEqual({ activity: 0, audit: 0 });
  });

  test("[LOG-9] bytes are counted over a restart", async () => {
    const it = await TestLog.open(open);
    await it.write(ANN, "x".repeat(1_000), "y".repeat(1_000));
    await it.reopen();
    await it.write(ANN, "z".repeat(1_000));

    expect(await it.log.prune({ ...EVERYTHING, activityMaxBytes: 2_500 })).toEqual({ activity: 1, audit: 0 });
    expect(await kept(it.log)).toEqual([2, 3]);
  });
}

function fairnessContract(open: OpenLog): void {
  test("[LOG-9] when there is too much audit, the stream that holds the most gives up its oldest", async () => {
    const it = await TestLog.open(open);
    const decision = "d".repeat(1_000);
    await it.log.append(BOB, "any", [request(decision), request(decision)], "process");
    await it.log.append(
      ANN,
      "any",
      Array.from({ length: 1_000 }, () => request(decision)),
      "process",
    );
    await it.log.append(HUB_STREAM, "any", [request(decision), TOKEN], "process");

    const pruned = await it.log.prune({ ...EVERYTHING, auditMaxBytes: 100_000, keep: new Set([ANN]) });

    const left = await kept(it.log);
    expect(pruned).toEqual({ activity: 0, audit: 1_004 - left.length });
    expect([left.slice(0, 2), left.slice(-2)]).toEqual([
      [1, 2],
      [1_003, 1_004],
    ]);
    expect(left.slice(2, -2)).toEqual(
      Array.from({ length: left.length - 4 }, (_, index) => 1_007 - left.length + index),
    );
    expect(left.length).toBeGreaterThan(80);
    expect(left.length).toBeLessThan(97);
  });

  test("[LOG-9] who was let in is not driven out by what was asked of the hub", async () => {
    const it = await TestLog.open(open);
    const asked = Array.from({ length: 100 }, () => request("a".repeat(1_000)));
    await it.log.append(HUB_STREAM, "any", [TOKEN, ...asked], "process");

    await it.log.prune({ ...EVERYTHING, auditMaxBytes: 10_000 });

    expect((await kept(it.log))[0]).toBe(1);
  });

  test("[LOG-22] state that must stay costs the others nothing, however much it is", async () => {
    const it = await TestLog.open(open);
    await it.log.append(BOB, "any", [request("decided")], "process");
    await it.log.append(ANN, "any", [status("x".repeat(50_000)), request("also")], "process");

    expect(await it.log.prune({ ...EVERYTHING, auditMaxBytes: 1_000, keep: new Set([ANN]) })).toEqual({
      activity: 0,
      audit: 0,
    });
    expect(await kept(it.log)).toEqual([1, 2, 3]);
  });
}

function cursorContract(open: OpenLog): void {
  test("[LOG-8] a cursor before what is kept is refused with the oldest one; no cursor begins there", async () => {
    const it = await TestLog.open(open);
    await it.log.append(ANN, "any", [output("1"), status("2"), output("3")], "process");
    it.now += 2 * HOUR;
    await it.write(ANN, "4", "5");
    await it.log.prune({ ...EVERYTHING, activityMaxAgeMs: HOUR });

    await expect(it.log.read({ after: 2, limit: 9 })).rejects.toEqual(new CursorExpired(3));
    const feed = it.log.subscribe({ after: 0 }, new AbortController().signal)[Symbol.asyncIterator]();
    await expect(feed.next()).rejects.toEqual(new CursorExpired(3));
    expect(await sequences(it.log, { after: 3 })).toEqual([4, 5]);
    expect(await sequences(it.log, {})).toEqual([2, 4, 5]);
    await it.reopen();
    await expect(it.log.read({ after: 2, limit: 9 })).rejects.toEqual(new CursorExpired(3));
  });

  test("[LOG-8] only what the filter may match counts", async () => {
    const it = await TestLog.open(open);
    await it.log.append(ANN, "any", [status("1"), output("2")], "process");
    await it.log.append(BOB, "any", [status("3"), TOKEN], "process");
    await it.log.prune({ ...NOTHING, keep: new Set([ANN]) });

    expect(await sequences(it.log, { after: 0, sessionId: ANN, types: ["status"] })).toEqual([1]);
    expect(await sequences(it.log, { after: 2, sessionId: ANN })).toEqual([]);
    await expect(it.log.read({ after: 1, sessionId: ANN, limit: 9 })).rejects.toEqual(new CursorExpired(2));
    await expect(it.log.read({ after: 1, types: ["status"], limit: 9 })).rejects.toEqual(new CursorExpired(3));
    await expect(it.log.read({ after: 3, types: ["token"], limit: 9 })).rejects.toEqual(new CursorExpired(4));
    expect(await sequences(it.log, { after: 3 })).toEqual([]);
  });

  test("[LOG-8, LOG-12] a reader that was overtaken by retention is told, never skipped ahead", async () => {
    const it = await TestLog.open(open);
    const feed = it.log.subscribe({ after: 0 }, new AbortController().signal)[Symbol.asyncIterator]();
    await it.write(ANN, "1");
    await feed.next();
    await it.write(ANN, "2", "3");
    await it.log.prune(NOTHING);

    await expect(feed.next()).rejects.toEqual(new CursorExpired(3));
  });
}

function readerContract(open: OpenLog): void {
  test("[LOG-8] a scan answers every kept event of its types, also past what is gone between them", async () => {
    const it = await TestLog.open(open);
    const many = Array.from({ length: 6_000 }, () => status("kept")); // more than one page
    await it.log.append(ANN, "any", many, "process");
    await it.log.append(BOB, "any", [status("gone"), output("gone")], "process");
    await it.log.append(ANN, "any", [status("last")], "process");
    await it.log.prune({ ...NOTHING, keep: new Set([ANN]) });

    const seen: number[] = [];
    for await (const batch of it.log.scan(["status"])) seen.push(...batch.map((event) => event.sequence));

    expect(seen).toEqual([...many.map((_, index) => index + 1), 6_003]);
    await expect(it.log.read({ types: ["status"], after: 1, limit: 9 })).rejects.toEqual(new CursorExpired(6_001));
  });

  test("[LOG-8, LOG-11] a subscription from the oldest event passes decisions that outlived the output around them", async () => {
    const it = await TestLog.open(open);
    const total = 2_500; // more than one page
    await it.log.append(
      ANN,
      "any",
      Array.from({ length: total }, () => status("kept")),
      "process",
    );
    await it.write(ANN, "removed");
    await it.log.prune({ ...EVERYTHING, activityMaxBytes: 0 });
    const found: number[] = [];

    for await (const events of it.log.subscribe({}, new AbortController().signal)) {
      found.push(...events.map((event) => event.sequence));
      if (found.length >= total) break;
    }

    expect(found).toEqual(Array.from({ length: total }, (_, index) => index + 1));
  });
}

function afterwardsContract(open: OpenLog): void {
  test("[LOG-5, LOG-10] sequence, time and versions go on after everything was removed", async () => {
    const it = await TestLog.open(open);
    await it.log.append(ANN, "any", [output("1"), status("2")], "process");
    await it.write(BOB, "3");
    await it.log.prune(NOTHING);
    await it.reopen();
    it.now -= HOUR;

    expect(it.log.head).toBe(3);
    expect(await it.log.append(ANN, 0, [output("late")], "process")).toEqual({ ok: false, version: 2 });
    expect(await it.log.append(ANN, 2, [output("4")], "process")).toMatchObject({
      ok: true,
      events: [{ sequence: 4, timestamp: "2030-01-01T00:00:00.000Z" }],
    });
  });

  test("[LOG-10] appends go on while old events are removed", async () => {
    const it = await TestLog.open(open);
    for (let index = 0; index < 20; index += 1) await it.write(ANN, ...Array.from({ length: 500 }, () => "old"));
    const order: string[] = [];

    const pruning = it.log.prune(NOTHING).then(() => order.push("pruned"));
    const appending = it.log.append(BOB, "any", [status("new")], "process").then(() => order.push("appended"));
    await Promise.all([pruning, appending]);

    expect(order).toEqual(["appended", "pruned"]);
    expect(it.log.head).toBe(10_001);
  });
}

async function sequences(log: EventLog, query: Partial<Parameters<EventLog["read"]>[0]>): Promise<number[]> {
  return (await log.read({ limit: 5_000, ...query })).map((event) => event.sequence);
}

async function kept(log: EventLog): Promise<number[]> {
  const all = [...(await log.read({ limit: 5_000 })), ...(await log.read({ limit: 5_000, types: ["token"] }))];
  return all.map((event) => event.sequence).toSorted((a, b) => a - b);
}
