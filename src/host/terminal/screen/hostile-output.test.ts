/** Output that is made to cost. */
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { CountLimit } from "./count-limit.ts";
import { Emulator } from "./emulator.ts";
import { LazyScreen } from "./lazy-screen.ts";
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

test.each([
  { what: "as C1", given: "x\u009b99999999S" },
  { what: "with zeros before it", given: `x\u001b[${"0".repeat(80)}99999999L` },
  { what: "with a bell in its middle", given: "x\u001b[99999\u000799999b" },
  { what: "with a backspace in its middle", given: "x\u001b[9999\b99999I\u001b[9999\b99999Z" },
])("[SCR-29] a huge count costs nothing either where it is written $what", ({ given }) => {
  const screen = emulator();

  screen.feed(Buffer.from(given), { answer: false });
  screen.feed(Buffer.from("\u001b[2J\u001b[Hdone"), { answer: false });

  expect(screen.read().lines[0]).toBe("done");
});

test("[SCR-43] a thread that doesn't come out of its work is ended, and the next screen has a new one", async () => {
  const screens = await Screens.open({ silenceMs: 1_000 });
  onTestFinished(() => screens.close());
  const lost = Promise.withResolvers<void>();
  // Larger than any that a session can have: a single slice takes seconds.
  const busy = screens.create({ cols: 1000, rows: 20_000, onLost: lost.resolve });
  busy.feed(Buffer.from("\u001b[1000S".repeat(200)));

  await lost.promise;

  // A thread that takes a second to begin is taken for one that is stuck.
  await eventually(async () => {
    const next = screens.create({ cols: 10, rows: 2 });
    next.feed(Buffer.from("again"));
    expect((await next.read()).lines).toEqual(["again", ""]);
  });
});

/** Some kilobytes of it take a second. */
const SLOW = "\u001B#8\u001B[99999S\u001B[99999L\u001B[?1049h\u001B[?1049l";

test("[SCR-44] a screen that is slow to draw doesn't hold up another", async () => {
  const screens = await Screens.open();
  onTestFinished(() => screens.close());
  const slow = screens.create({ cols: 120, rows: 40 });
  const other = screens.create({ cols: 10, rows: 2 });
  slow.feed(Buffer.from(SLOW.repeat(5_000)));
  other.feed(Buffer.from("quick"));

  const { lines } = await other.read();

  expect(lines).toEqual(["quick", ""]);
  expect(slow.backlog).toBeGreaterThan(SLOW.length * 4_000);
});

test("[SCR-45] of output that takes minutes to draw the last is shown", async () => {
  const screens = await Screens.open();
  onTestFinished(() => screens.close());
  const screen = new LazyScreen({
    screens: async () => screens,
    size: { cols: 120, rows: 40 },
    onReply: () => undefined,
    onKeyframe: () => undefined,
  });
  onTestFinished(() => screen.close());
  const slow = Buffer.from(SLOW.repeat(50_000));
  screen.feed(slow, 0, 0);
  screen.feed(Buffer.from("\r\nthe end"), slow.length, 0);

  const content = await screen.read();

  expect(content).toMatchObject({ approximate: true, cursor: slow.length + 9 });
  expect(content.lines).toContain("the end");
});
