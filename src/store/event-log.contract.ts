/** What every `EventLog` promises. Rules in docs/spec/log.md. */
import { describe, expect, test } from "vitest";
import { HUB_STREAM, type NewEvent } from "../domain/event.ts";
import type { EventLog } from "../hub/ports.ts";
import { ANN, BOB, type OpenLog, output, status, TestLog, TOKEN } from "../../test/store/test-log.ts";
import { eventFeedContract } from "./event-feed.contract.ts";
import { retentionContract } from "./retention.contract.ts";

export function eventLogContract(open: OpenLog): void {
  describe("appending", () => appendContract(open));
  describe("versions", () => versionContract(open));
  describe("order and time", () => orderContract(open));
  describe("reading", () => readContract(open));
  describe("large and single events", () => sizeContract(open));
  eventFeedContract(open);
  retentionContract(open);
}

function appendContract(open: OpenLog): void {
  test("[LOG-1] what an append answers is what is read back, in every field", async () => {
    const it = await TestLog.open(open);
    const full: NewEvent = { ...output("häß \u0000 😀 \n \u2028 \ud800"), position: 0, cursor: 2 ** 52 };
    const odd: NewEvent = { type: "log_line", payload: {}, source: { kind: "person", id: "a b\nc" }, position: 7 };

    const appended = await it.log.append(ANN, 0, [full, status("active"), odd], "process");

    expect(appended).toEqual({
      ok: true,
      events: [full, status("active"), odd].map((event, index) => {
        return { ...event, sequence: index + 1, sessionId: ANN, timestamp: "2030-01-01T00:00:00.000Z" };
      }),
    });
    expect({ ok: true, events: await it.log.read({ limit: 10 }) }).toEqual(appended);
  });

  test("[LOG-1] an append of nothing stores nothing and still checks the version", async () => {
    const it = await TestLog.open(open);
    await it.write(ANN, "one");

    expect(await it.log.append(ANN, 1, [], "process")).toEqual({ ok: true, events: [] });
    expect(await it.log.append(ANN, 0, [], "process")).toEqual({ ok: false, version: 1 });
    expect(it.log.head).toBe(1);
  });

  test("[LOG-1] an append with an event that isn't JSON is rejected whole, and no other with it", async () => {
    const it = await TestLog.open(open);
    const circular: Record<string, never> = {};
    Object.assign(circular, { circular });
    const bad: NewEvent = { ...output("bad"), payload: circular };

    const results = await Promise.allSettled([
      it.log.append(ANN, "any", [output("one")], "process"),
      it.log.append(ANN, "any", [output("half"), bad], "process"),
      it.log.append(ANN, "any", [{ ...output("half"), position: -1 }], "process"),
      it.log.append(ANN, "any", [output("two")], "process"),
    ]);

    expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
    expect(await texts(it)).toEqual(["one", "two"]);
  });

  test("[LOG-13] observers see each event once, in order, before its append resolves", async () => {
    const it = await TestLog.open(open);
    const seen: number[] = [];
    const observing = it.log.observe((events) => seen.push(...events.map((event) => event.sequence)));

    await Promise.all([
      it.log.append(ANN, "any", [output("a"), output("b")], "process").then(() => expect(seen).toContain(2)),
      it.log.append(BOB, 99, [output("conflict")], "process"),
      it.log.append(BOB, "any", [output("c")], "power").then(() => expect(seen).toContain(3)),
    ]);
    observing[Symbol.dispose]();
    await it.write(ANN, "unseen");

    expect(seen).toEqual([1, 2, 3]);
  });
}

function versionContract(open: OpenLog): void {
  test("[LOG-3] a conflict stores nothing and answers the stream's version", async () => {
    const it = await TestLog.open(open);
    await it.write(ANN, "one", "two");
    await it.write(BOB, "three");

    expect(await it.log.append(ANN, 1, [output("late")], "process")).toEqual({ ok: false, version: 2 });
    expect(await it.log.append(ANN, 3, [output("wrong")], "process")).toEqual({ ok: false, version: 2 });
    expect(await it.log.append(HUB_STREAM, 3, [output("none")], "process")).toEqual({ ok: false, version: 0 });
    expect(await texts(it)).toEqual(["one", "two", "three"]);
    expect(it.log.head).toBe(3);
  });

  test("[LOG-3] of appends that race for one version exactly one is stored", async () => {
    const it = await TestLog.open(open);

    const racing = Array.from({ length: 20 }, (_, index) =>
      it.log.append(ANN, 0, [output(String(index))], index % 3 === 0 ? "power" : "process"),
    );
    const results = await Promise.all(racing);

    expect(results.map((result) => result.ok)).toEqual([true, ...Array.from({ length: 19 }, () => false)]);
    expect(await texts(it)).toEqual(["0"]);
  });

  test("[LOG-3] versions are the same after reopening", async () => {
    const it = await TestLog.open(open);
    await it.write(ANN, "one");
    await it.log.append(ANN, 1, [status("active"), TOKEN], "process");
    await it.write(BOB, "four");

    await it.reopen();

    expect(await it.log.append(ANN, 1, [output("late")], "process")).toEqual({ ok: false, version: 3 });
    expect(await it.log.append(ANN, 3, [output("five")], "process")).toMatchObject({
      ok: true,
      events: [{ sequence: 5 }],
    });
  });
}

function orderContract(open: OpenLog): void {
  test("[LOG-2] sequences are contiguous within an append and grow over all streams and restarts", async () => {
    const it = await TestLog.open(open);
    const many = Array.from({ length: 37 }, (_, index) => String(index));

    const written = await Promise.all([it.write(ANN, "a"), it.write(BOB, ...many), it.write(ANN, "b", "c")]);
    await it.reopen();
    const later = await it.write(BOB, "d");

    expect([...written.flat(), ...later]).toEqual(Array.from({ length: 41 }, (_, index) => index + 1));
    expect(it.log.head).toBe(41);
  });

  test("[LOG-6] timestamps never decrease, whatever the clock does", async () => {
    const it = await TestLog.open(open);
    await it.write(ANN, "noon");
    it.now -= 3_600_000;
    await it.write(ANN, "set back");
    await it.reopen();
    await it.write(ANN, "after a restart");
    it.now += 3_600_001;
    await it.write(ANN, "later");

    expect((await it.log.read({ limit: 10 })).map((event) => event.timestamp)).toEqual([
      "2030-01-01T00:00:00.000Z",
      "2030-01-01T00:00:00.000Z",
      "2030-01-01T00:00:00.000Z",
      "2030-01-01T00:00:00.001Z",
    ]);
  });
}

function readContract(open: OpenLog): void {
  test("[LOG-7] a read answers what lies after the cursor, at most the limit, by session and type", async () => {
    const it = await TestLog.open(open);
    await it.log.append(ANN, "any", [output("1"), status("2"), output("3")], "process");
    await it.log.append(BOB, "any", [status("4"), output("5")], "process");
    await it.log.append(ANN, "any", [status("6")], "process");
    const read = async (query: Partial<Parameters<EventLog["read"]>[0]>): Promise<number[]> =>
      (await it.log.read({ limit: 100, ...query })).map((event) => event.sequence);

    expect(await read({})).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await read({ after: 2, limit: 3 })).toEqual([3, 4, 5]);
    expect(await read({ after: 6 })).toEqual([]);
    expect(await read({ after: 1_000 })).toEqual([]);
    expect(await read({ sessionId: ANN })).toEqual([1, 2, 3, 6]);
    expect(await read({ sessionId: ANN, after: 1, limit: 2 })).toEqual([2, 3]);
    expect(await read({ types: ["status", "status"] })).toEqual([2, 4, 6]);
    expect(await read({ types: ["status", "stdout"], after: 2, limit: 3 })).toEqual([3, 4, 5]);
    expect(await read({ sessionId: ANN, types: ["status"], after: 2 })).toEqual([6]);
    expect(await read({ sessionId: HUB_STREAM })).toEqual([]);
    expect(await read({ types: [] })).toEqual([]);
  });

  test("[LOG-7] housekeeping is read only by those who name it", async () => {
    const it = await TestLog.open(open);
    await it.log.append(HUB_STREAM, "any", [output("1"), TOKEN, status("3")], "process");
    const read = async (query: Partial<Parameters<EventLog["read"]>[0]>): Promise<number[]> =>
      (await it.log.read({ limit: 100, ...query })).map((event) => event.sequence);

    expect(await read({})).toEqual([1, 3]);
    expect(await read({ sessionId: HUB_STREAM })).toEqual([1, 3]);
    expect(await read({ types: ["token"] })).toEqual([2]);
    expect(await read({ sessionId: HUB_STREAM, types: ["token", "status"] })).toEqual([2, 3]);
  });
}

function sizeContract(open: OpenLog): void {
  test("[LOG-7] a page of large events ends early, has at least one, and only an empty one is the end", async () => {
    const it = await TestLog.open(open);
    const large = "x".repeat(3 << 20);
    await it.write(ANN, ...Array.from({ length: 11 }, () => large));
    await it.write(ANN, "y".repeat(20 << 20), "small", "small");
    const pages: number[] = [];

    for (let after = 0; ;) {
      const page = await it.log.read({ after, limit: 100 });
      if (page.length === 0) break;
      pages.push(page.length);
      after = page.at(-1)!.sequence;
    }
    const fed: number[] = [];
    for await (const events of it.log.subscribe({ after: 0 }, new AbortController().signal)) {
      fed.push(...events.map((event) => event.sequence));
      if (fed.length === 14) break;
    }

    expect(pages).toEqual([5, 5, 1, 1, 2]);
    expect(fed).toEqual(Array.from({ length: 14 }, (_, index) => index + 1));
    expect((await it.log.last(ANN, "stdout"))?.payload).toEqual({ text: "small" });
  });

  test("[LOG-7] the last event of a type in a stream is found whatever came after it", async () => {
    const it = await TestLog.open(open);
    await it.log.append(ANN, "any", [output("1"), output("2"), status("3")], "process");
    await it.log.append(BOB, "any", [output("4")], "process");

    expect(await it.log.last(ANN, "stdout")).toMatchObject({ sequence: 2, sessionId: ANN, type: "stdout" });
    expect(await it.log.last(ANN, "status")).toMatchObject({ sequence: 3 });
    expect(await it.log.last(BOB, "status")).toBeUndefined();
    expect(await it.log.last(HUB_STREAM, "stdout")).toBeUndefined();
  });

  test("[LOG-7] the event with the largest position in a stream is found, whatever its type and what came after it", async () => {
    const it = await TestLog.open(open);
    await it.log.append(
      ANN,
      "any",
      [
        { ...output("1"), position: 4 },
        { ...status("2"), position: 5 },
      ],
      "process",
    );
    await it.log.append(ANN, "any", [output("3"), status("4")], "process");
    await it.log.append(BOB, "any", [output("5")], "process");
    await it.log.append(ANN, "any", [{ ...output("6"), position: 4 }], "process");

    expect(await it.log.lastPlaced(ANN)).toMatchObject({ sequence: 2, type: "status", position: 5 });
    expect(await it.log.lastPlaced(BOB)).toBeUndefined();
    expect(await it.log.lastPlaced(HUB_STREAM)).toBeUndefined();
  });
}

async function texts(it: TestLog): Promise<unknown[]> {
  return (await it.log.read({ limit: 100 })).map((event) => event.payload["text"]);
}
