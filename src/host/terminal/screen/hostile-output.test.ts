/** Output that is made to cost. */
import { expect, onTestFinished, test } from "vitest";
import { CountLimit } from "./count-limit.ts";
import { Emulator } from "./emulator.ts";
import { Screens } from "./screens.ts";

const emulator = () => new Emulator({ cols: 40, rows: 10, onReply: () => undefined });
const limited = (chunks: readonly string[]) => {
  const limit = new CountLimit();
  return Buffer.concat(chunks.map((it) => limit.push(Buffer.from(it, "latin1")))).toString("latin1");
};

test.each([
  { given: "\u001b[99999999L", taken: "\u001b[1000L" },
  { given: "\u001b[3;12345678S", taken: "\u001b[3;1000S" },
  { given: "\u001b[38;5;1234567mtext 1234567", taken: "\u001b[38;5;1234567mtext 1234567" },
  { given: "\u001b[121b\u001b[1000X", taken: "\u001b[121b\u001b[1000X" },
  { given: "\u001b[?1049h\u001b[12345;2H", taken: "\u001b[?1049h\u001b[12345;2H" },
  { given: "\u001b[\u001b[99999b", taken: "\u001b[\u001b[1000b" },
])("[SCR-29] counts are taken down to the largest screen's, however $given is cut", ({ given, taken }) => {
  const cuts = Array.from({ length: given.length + 1 }, (_, at) => limited([given.slice(0, at), given.slice(at), "."]));

  expect(new Set(cuts)).toEqual(new Set([`${taken}.`]));
});

test("[SCR-29] a flood of huge counts costs no more than a flood of small ones", () => {
  const screen = emulator();
  const flood = "LMSTPX@b".split("").map((final) => `x\u001b[99999999${final}`);

  for (let round = 0; round < 50; round += 1) screen.feed(Buffer.from(flood.join("")), { answer: false });
  screen.feed(Buffer.from("\u001b[2J\u001b[Hdone"), { answer: false });

  expect(screen.read().lines[0]).toBe("done");
});

test("[SCR-43] a thread that doesn't come out of its work is ended, and the next screen has a new one", async () => {
  const screens = await Screens.open({ silenceMs: 1_000 });
  onTestFinished(() => screens.close());
  const lost = Promise.withResolvers<void>();
  const busy = screens.create({ cols: 1000, rows: 1000, onLost: lost.resolve });
  // Each scrolls a thousand lines a thousand times; together they take minutes.
  busy.feed(Buffer.from("\u001b[1000S".repeat(200_000)));

  await lost.promise;
  const next = screens.create({ cols: 10, rows: 2 });
  next.feed(Buffer.from("again"));

  expect((await next.read()).lines).toEqual(["again", ""]);
});
