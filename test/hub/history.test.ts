/** Looking back at what is stored, without a host: long sessions, and what retention took. */
import { onTestFinished, expect, test } from "vitest";
import type { NewEvent } from "../../src/domain/event.ts";
import type { Session } from "../../src/domain/session.ts";
import { HistoryDesk } from "../../src/hub/history-desk.ts";
import { Journal } from "../../src/hub/journal.ts";
import { KeptScreens } from "../../src/hub/kept-screens.ts";
import { OutputDesk } from "../../src/hub/output-desk.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { SegmentByteStore } from "../../src/store/segments/segment-byte-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { ANN } from "../store/test-log.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const BEGAN = Date.UTC(2030, 0, 1);
const HOST = { kind: "host", id: "local" } as const;

async function stage() {
  const dataDir = await temporaryDirectory();
  const clock = { ms: BEGAN, now: () => clock.ms };
  const store = await openSqliteStore(dataDir, clock);
  const bytes = new SegmentByteStore(dataDir, { ...clock, segmentBytes: 100 });
  onTestFinished(async () => {
    await bytes.close();
    await store.close();
  });
  const log = store.events;
  const output = new OutputDesk(
    bytes,
    new Journal(log),
    createLogger("error", () => undefined),
  );
  const session = { sessionId: ANN, createdAt: new Date(BEGAN).toISOString(), status: "active" } as unknown as Session;
  const sessions = { get: () => session, size: () => ({ cols: 80, rows: 24 }) };
  const history = new HistoryDesk({ log, bytes, output, sessions, screens: new KeptScreens(log), clock });
  const tell = (events: readonly NewEvent[]) => log.append(ANN, "any", events, "process");
  const print = async (text: string, atMs: number): Promise<void> => {
    clock.ms = BEGAN + atMs;
    await bytes.append(ANN, await bytes.size(ANN), Buffer.from(text));
  };
  return { history, bytes, tell, print, clock };
}

const resize = (cursor: number, cols: number, rows: number): NewEvent => ({
  type: "resize",
  payload: { cols, rows },
  source: HOST,
  cursor,
});
const keyframe = (cursor: number, data: string): NewEvent => ({
  type: "keyframe",
  payload: { cursor, cols: 80, rows: 24, data },
  source: HOST,
  cursor: cursor + 5,
});

test("[WEB-60] output comes by range, with where it ends; what is no longer kept is refused", async () => {
  const { history, bytes, print } = await stage();
  for (let index = 0; index < 10; index += 1) await print(String(index).repeat(100), index * 1000);
  const ask = (from_cursor: number | undefined, max_bytes: number) =>
    history.output({ sessionId: ANN, from_cursor, max_bytes });
  const { data, ...place } = await ask(199, 102);

  expect(Buffer.from(data, "base64").toString()).toBe(`1${"2".repeat(100)}3`);
  expect(place).toEqual({ from_cursor: 199, cursor: 301, end_cursor: 1000, oldest_cursor: 0 });
  expect(await ask(1000, 10)).toMatchObject({ data: "", cursor: 1000 });
  await bytes.prune(ANN, 300);
  await expect(ask(699, 10)).rejects.toMatchObject({ name: "CursorExpired", oldest: 700 });
  expect(await ask(undefined, 1)).toMatchObject({ data: btoa("7"), from_cursor: 700, oldest_cursor: 700 });
});

test("[WEB-61, WEB-63] the newest screen before a cursor comes with the sizes behind it, also those that are new", async () => {
  const { history, tell, print, bytes } = await stage();
  for (let index = 0; index < 10; index += 1) await print("x".repeat(100), index * 1000);
  await tell([resize(0, 80, 24), keyframe(200, "two"), resize(250, 90, 30), keyframe(600, "six"), resize(650, 70, 20)]);
  const at = (at_cursor?: number, to_cursor?: number) => history.keyframe({ sessionId: ANN, at_cursor, to_cursor });
  const blank = { cursor: 0, cols: 80, rows: 24, resizes: [], approximate: false };

  expect(await at(199)).toEqual(blank);
  expect(await at(240)).toEqual({ ...blank, cursor: 200, data: "two" });
  expect(await at(599)).toEqual({ ...blank, cursor: 200, data: "two", resizes: [[250, 90, 30]] });
  expect(await at(240, 700)).toMatchObject({
    data: "two",
    resizes: [
      [250, 90, 30],
      [650, 70, 20],
    ],
  });
  await tell([keyframe(900, "nine")]);
  expect(await at()).toEqual({ ...blank, cursor: 900, data: "nine" });
  await bytes.prune(ANN, 500);
  expect(await at(550)).toEqual({ ...blank, cursor: 500, cols: 90, rows: 30, approximate: true });
  await expect(at(499)).rejects.toMatchObject({ name: "CursorExpired", oldest: 500 });
});

test("[WEB-62] a timeline of very many events comes in pages, its activity thinned, its texts cut", async () => {
  const { history, tell, print, clock } = await stage();
  for (let index = 0; index < 500; index += 1) await print("x", index * 1000);
  const begin = (index: number): NewEvent => ({
    type: "agent_block_begin",
    payload: { blockId: ANN, seq: index, cmd: "y".repeat(5000) },
    source: { kind: "agent", id: "bot" },
    cursor: 7,
    position: index + 1,
  });
  await tell(Array.from({ length: 25 }, (_, index) => begin(index)));
  const ask = (after: number | undefined, limit: number, points: number) =>
    history.timeline({ sessionId: ANN, after, limit, points });
  clock.ms = BEGAN + 600_000;

  const first = await ask(undefined, 10, 50);
  const second = await ask(first.next, 20, 0);
  const last = await ask(second.next, 20, 0);

  expect(first).toMatchObject({ began_at: BEGAN, end_ms: 600_000, live: true, oldest_cursor: 0, end_cursor: 500 });
  expect(first.activity).toHaveLength(50);
  expect([first.activity[0], first.activity.at(-1)]).toEqual([
    [9_000, 10],
    [499_000, 500],
  ]);
  expect(first.items[0]).toEqual({
    sequence: expect.any(Number),
    at_ms: 499_000,
    cursor: 7,
    type: "agent_block_begin",
    by: { kind: "agent", id: "bot" },
    payload: { blockId: ANN, seq: 0, cmd: `${"y".repeat(240)}…` },
  });
  const seqs = [first, second, last].map((it) => it.items.map(({ payload }) => payload["seq"]));
  expect(seqs).toEqual([Array.from({ length: 10 }, (_, it) => it), Array.from({ length: 15 }, (_, it) => it + 10), []]);
  expect([second.activity, "next" in last]).toEqual([[], false]);
});
