import { expect, test } from "vitest";
import { Asciicast } from "./asciicast.ts";

test("[WEB-65] intervals add up to the times, and never go back", () => {
  const cast = new Asciicast({ cols: 80, rows: 24, title: "build", beganAt: 1_700_000_000_123 });
  const lines = [
    cast.header(),
    cast.event(1_700_000_000_223, "o", "a\u001b[1m\r\n"),
    cast.event(1_700_000_000_200, "m", "$ make"),
    cast.event(1_700_000_001_224, "r", "100x30"),
    cast.event(1_700_000_001_224, "x", "2"),
  ];

  expect(lines.map((it) => JSON.parse(it))).toEqual([
    { version: 3, term: { cols: 80, rows: 24 }, timestamp: 1_700_000_000, title: "build" },
    [0.1, "o", "a\u001b[1m\r\n"],
    [0, "m", "$ make"],
    [1.001, "r", "100x30"],
    [0, "x", "2"],
  ]);
});
