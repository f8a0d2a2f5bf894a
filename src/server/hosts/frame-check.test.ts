import { expect, test } from "vitest";
import type { JsonObject } from "../../domain/event.ts";
import type { SessionFrame } from "../../domain/session-frame.ts";
import { FrameCheck } from "./frame-check.ts";

const WHOSE = { hostId: "far", sessionId: "s" };

const bytes = (cursor: number, text: string): SessionFrame => ({
  kind: "bytes",
  order: 1,
  cursor,
  bytes: Buffer.from(text),
});

const errors = (cursor: number, payload: JsonObject): SessionFrame => ({
  kind: "event",
  order: 2,
  cursor,
  at: 0,
  type: "stderr",
  payload,
});

test("[RML-20, RMC-12] which bytes are errors is a host's to tell, right behind them", () => {
  const check = new FrameCheck(WHOSE, { cursor: 0 });
  const told = [
    bytes(0, "out"),
    bytes(3, "err"),
    errors(6, { cursor: 3, length: 3 }),
    bytes(6, "more"),
    errors(10, { cursor: 6, length: 4 }),
  ];

  expect(told.map((frame) => check.faultOf(frame))).toEqual(told.map(() => undefined));
});

test.each<JsonObject>([
  {},
  { cursor: 0, length: 99 },
  { cursor: -1, length: 7 },
  { cursor: "0", length: 6 },
  { cursor: 6, length: 0 },
  { cursor: 0, length: 5 },
  { cursor: 1.5, length: 4.5 },
  { cursor: 2, length: 4 },
])("[RML-20, RMC-12] errors elsewhere are none: %j", (payload) => {
  const check = new FrameCheck(WHOSE, { cursor: 0 });
  check.faultOf(bytes(0, "err"));
  check.faultOf(errors(3, { cursor: 0, length: 3 }));
  check.faultOf(bytes(3, "out"));

  expect(check.faultOf(errors(6, payload))).toBe("errors that are not the last bytes before 6");
});
