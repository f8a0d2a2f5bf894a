import { expect, test } from "vitest";
import { describeControl } from "../../domain/control-record.ts";
import { initialControl } from "../../domain/control-state.ts";
import type { Timeline, TimelineItem } from "../../protocol/history.ts";
import { controlAt, cursorAt, grown, momentAt, msAt, recordingOf } from "./recording.ts";
import { afterIdle, placeOf } from "./use-player.ts";

const bot = { kind: "agent", id: "bot" } as const;
const ann = { kind: "person", id: "ann" } as const;

let sequence = 0;
const item = (at_ms: number, given: Partial<TimelineItem>): TimelineItem => ({
  sequence: (sequence += 1),
  at_ms,
  type: "status",
  by: { kind: "host", id: "local" },
  payload: {},
  ...given,
});
const handed = (at_ms: number, cursor: number, holder: typeof bot | typeof ann) =>
  item(at_ms, {
    type: "control_handoff",
    cursor,
    payload: describeControl({
      ...initialControl(false),
      holder,
      mode: holder.kind === "agent" ? "AGENT" : "USER",
      reason: "taken",
    }),
  });

const head: Timeline = {
  began_at: 1_000_000,
  end_ms: 60_000,
  live: false,
  oldest_cursor: 0,
  end_cursor: 500,
  activity: [
    [1_000, 100],
    [1_050, 130],
    [30_000, 400],
  ],
  items: [],
};
const items = [
  handed(500, 0, bot),
  item(1_020, {
    type: "agent_block_begin",
    cursor: 120,
    by: bot,
    payload: { blockId: "b", cmd: "make\u202e", seq: 1 },
  }),
  item(29_000, { type: "agent_block_end", cursor: 300, payload: { blockId: "b", exitCode: 2 } }),
  handed(40_000, 400, ann),
  item(60_000, { payload: { status: "closed" } }),
];
const recording = recordingOf(head, items);

test("[WEB-70] a time is a place in the output, and a place a time, by the finer of what output and events tell", () => {
  expect([0, 1_010, 1_020, 1_060, 29_500, 30_000, 60_000].map((ms) => cursorAt(recording.points, ms))).toEqual([
    0, 100, 120, 130, 300, 400, 500,
  ]);
  expect([0, 1, 100, 101, 130, 131, 500].map((cursor) => msAt(recording.points, cursor))).toEqual([
    0, 1_000, 1_000, 1_020, 1_050, 29_000, 60_000,
  ]);
});

test("[WEB-71] who drove at a time is the fold of what was recorded until then", () => {
  const times = [0, 500, 39_999, 40_000, 60_000].map((ms) => ({ ms, cursor: 0 }));
  const printedUnderAnn = { ms: 39_000, cursor: 401 };
  const holders = [...times, printedUnderAnn].map((place) => controlAt(recording.bands, place)?.holder?.id);

  expect(holders).toEqual([undefined, "bot", "bot", "ann", "ann", "ann"]);
});

test("[WEB-71] who drove is said once: what happened last stands beside it where that is something else", () => {
  const moments = [0, 500, 1_020, 40_000, 60_000].map((ms) => momentAt(recording, { ms, cursor: 0 }));

  expect(moments.map(({ driverKind, drove, last }) => [driverKind, drove, last])).toEqual([
    ["nobody", "Nobody drove", undefined],
    ["agent", "bot drove, control was taken", undefined],
    ["agent", "bot drove, control was taken", "bot: make\u202e"],
    ["person", "ann drove, control was taken", undefined],
    ["person", "ann drove, control was taken", "The session ended"],
  ]);
});

test("[WEB-73] stops are what one would look for, and idle time is skipped up to the next of them", () => {
  expect(recording.stops.map(({ ms, cursor, kind, text }) => [ms, cursor, kind, text])).toEqual([
    [500, 0, "control", "bot drives, control was taken"],
    [1_020, 120, "command", "bot: make\u202e"],
    [40_000, 400, "control", "ann drives, control was taken"],
    [60_000, 400, "end", "The session ended"],
  ]);
  expect(recording.commands).toEqual([{ fromMs: 1_020, toMs: 29_000, text: "make\u202e", isBad: true }]);
  expect([600, 1_100, 30_000, 59_000].map((ms) => afterIdle(recording, ms))).toEqual([600, 28_500, 39_500, 59_000]);
});

test.each([
  ["0", { ms: 0, cursor: 0 }],
  ["1020", { ms: 1_020, cursor: 120 }],
  ["c125", { ms: 1_050, cursor: 125 }],
  ["c99999", { ms: 60_000, cursor: 500 }],
  ["99999999", { ms: 60_000, cursor: 500 }],
  ["-5", { ms: 1_050, cursor: 130 }],
  ["evil", { ms: 1_050, cursor: 130 }],
  [null, { ms: 1_050, cursor: 130 }],
])("[WEB-70, WEB-77] ?at=%s", (at, place) => {
  expect(placeOf(recording, at)).toEqual(place);
});

test("[WEB-77] where nothing was drawn yet, it begins at the beginning", () => {
  const blank = recordingOf({ ...head, end_cursor: 0, activity: [] }, []);

  expect(placeOf(blank, null)).toEqual({ ms: 0, cursor: 0 });
});

test("[WEB-77] where the beginning is no longer kept, no place leads before the first byte that is", () => {
  const cut = recordingOf({ ...head, oldest_cursor: 125 }, items);

  expect(placeOf(cut, null)).toEqual({ ms: 1_050, cursor: 130 });
  expect(["0", "1020", "c7", "c130"].map((at) => placeOf(cut, at).cursor)).toEqual([125, 125, 125, 130]);
  expect(cut.stops.map(({ cursor }) => cursor)).toEqual([125, 125, 400, 400]);
});

test("[WEB-70] what came since is there from when it was asked for, and nothing that was known gets lost", () => {
  const later: Timeline = { ...head, end_ms: 70_000, end_cursor: 620, activity: [] };

  const more = recordingOf(grown(head, later), items);
  const same = recordingOf(grown(grown(head, later), { ...later, end_ms: 80_000 }), items);

  expect([30_000, 69_999, 70_000].map((ms) => cursorAt(more.points, ms))).toEqual([400, 400, 620]);
  expect([same.endMs, cursorAt(same.points, 69_999), msAt(same.points, 620)]).toEqual([80_000, 400, 70_000]);
});
