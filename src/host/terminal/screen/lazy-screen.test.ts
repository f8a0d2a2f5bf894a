import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { seeded, SEED } from "../../../../test/crash/seeded.ts";
import { eventually } from "../../../../test/support/eventually.ts";
import { ModeScanner } from "../../../domain/modes.ts";
import { byteTools } from "../byte-tools.ts";
import { Emulator } from "./emulator.ts";
import { type Keyframe, LazyScreen, type LazyScreenOptions } from "./lazy-screen.ts";
import { LIMITS } from "./screen-limits.ts";
import { Screens } from "./screens.ts";

const SIZE = { cols: 80, rows: 24 };
const MIB = 1_024 * 1_024;
let screens: Screens;

beforeAll(async () => {
  screens = await Screens.open();
});
afterAll(() => screens.close());

/** A screen fed as a session does, with what it said. */
class Session {
  readonly replies: string[] = [];
  readonly keyframes: Keyframe[] = [];
  readonly screen: LazyScreen;
  made = 0;
  cursor = 0;
  readonly #scanner = new ModeScanner(byteTools);

  constructor(options: Partial<LazyScreenOptions> = {}) {
    this.screen = new LazyScreen({
      screens: async () => {
        this.made += 1;
        return screens;
      },
      size: SIZE,
      onReply: (bytes) => this.replies.push(Buffer.from(bytes).toString()),
      onKeyframe: (keyframe) => this.keyframes.push(keyframe),
      modes: () => this.#scanner.modes,
      ...options,
    });
    onTestFinished(() => this.screen.close());
  }

  feed(output: string | Uint8Array): void {
    const bytes = Buffer.from(output);
    const { queries } = this.#scanner.push(bytes);
    this.screen.feed(bytes, this.cursor, queries);
    this.cursor += bytes.length;
  }

  /** Resolves when the emulator has been put away once more. */
  async rested(): Promise<void> {
    const before = this.keyframes.length;
    this.feed("\u001B[m");
    await this.screen.read();
    await eventually(() => expect(this.keyframes.length).toBeGreaterThan(before));
  }
}

const RESTLESS = { idleMs: 1 };

function shownBy(output: Uint8Array): readonly string[] {
  const emulator = new Emulator({ ...SIZE, onReply: () => undefined });
  emulator.feed(output, { answer: false });
  return emulator.read().lines;
}

function terminalText(lines: number, random = seeded(SEED)): Buffer {
  const line = (index: number): string =>
    `\u001B[3${random(8)}mline ${index}\u001B[0m ${"abc — déf ".repeat(random(8))}\r\n`;
  return Buffer.from(Array.from({ length: lines }, (_, index) => line(index)).join(""));
}

test("[SCR-30] output without queries makes no emulator", () => {
  const session = new Session();

  for (let count = 0; count < 100; count += 1) session.feed("some output\r\n");

  expect([session.made, session.screen.retained]).toEqual([0, 1_300]);
});

test("[SCR-30] a program that writes byte by byte costs its bytes", () => {
  const session = new Session();
  const slab = Buffer.alloc(64 * 1024, 0x78);

  for (let at = 0; at < 10_000; at += 1) session.screen.feed(slab.subarray(at, at + 1), at, 0);

  expect(session.screen.retained).toBe(10_000);
});

test("[SCR-31] the screen is the one of all output so far, and tells its cursor and size", async () => {
  const session = new Session();
  session.feed("one\r\ntwo\u001B]2;title\u0007");

  const content = await session.screen.read();

  expect(content).toEqual({
    lines: ["one", "two", ...Array.from({ length: 22 }, () => "")],
    cursorRow: 1,
    cursorCol: 3,
    altScreen: false,
    title: "title",
    approximate: false,
    cursor: session.cursor,
    size: SIZE,
  });
});

test("[SCR-32] an emulator made again from its keyframe shows the same as one that lived on", async () => {
  const random = seeded(SEED);
  const output = terminalText(400, random);
  const session = new Session({ limits: RESTLESS });
  let cycles = 0;
  for (let at = 0; at < output.length;) {
    const to = at + 1 + random(3_000);
    session.feed(output.subarray(at, to));
    const { lines } = await session.screen.read();
    expect(lines).toEqual(shownBy(output.subarray(0, to)));
    if (at === 0 || random(4) === 0) {
      await eventually(() => expect(session.keyframes.at(-1)?.cursor).toBeGreaterThan(session.cursor - 4));
      cycles += 1;
    }
    at = to;
  }

  expect(cycles).toBeGreaterThan(0);
  expect(session.made).toBeGreaterThan(1);
});

test("[SCR-33] each query is answered once, whatever keyframes and screens come between", async () => {
  const session = new Session({ limits: RESTLESS });
  const expected: string[] = [];

  for (let turn = 1; turn <= 6; turn += 1) {
    session.feed(`\u001B[${turn};1H\u001B[6`);
    await session.rested();
    session.feed(`\u001B[${turn};1H\u001B[6`);
    session.feed("n");
    expected.push(`\u001B[${turn};1R`);
    await session.screen.read();
    await session.rested();
    await session.screen.read();
  }

  expect(session.replies).toEqual(expected);
});

test("[SCR-33] a query that is cut by a keyframe is answered when its end comes", async () => {
  const session = new Session({ limits: RESTLESS });
  session.feed("abc\u001B[6");
  await session.screen.read();
  await eventually(() => expect(session.keyframes).toHaveLength(1));

  session.feed("n");

  await eventually(() => expect(session.replies).toEqual(["\u001B[1;4R"]));
  expect(session.made).toBe(2);
});

test("[SCR-34] a snapshot and the bytes from its cursor on make the same screen elsewhere", async () => {
  const session = new Session();
  session.feed(terminalText(300));
  session.feed(Buffer.concat([Buffer.from("\u001B[?2004h\u001B[31m prompt "), Buffer.from("—").subarray(0, 2)]));

  const { ansi, size, cursor } = await session.screen.snapshot();
  const rest = Buffer.concat([Buffer.from("—").subarray(2), Buffer.from("\u001B[K next\r\nline")]);
  session.feed(rest);
  const other = new Emulator({ ...size, keyframe: ansi, onReply: () => undefined });
  other.feed(Buffer.concat([Buffer.from("—").subarray(0, 2), rest]), { answer: false });

  const { lines, cursorRow, cursorCol } = await session.screen.read();
  expect(cursor).toBe(session.cursor - rest.length - 2);
  expect(other.read()).toMatchObject({ lines, cursorRow, cursorCol });
  expect(lines.at(-2)).toContain("prompt — next");
  expect(ansi).toContain("line 0");
});

test("[SCR-35] an emulator of no use is written down and closed, and the keyframe is told", async () => {
  const session = new Session({ limits: RESTLESS });
  session.feed("hello");
  await session.screen.read();

  await eventually(() => expect(session.keyframes).toHaveLength(1));

  expect(session.keyframes[0]).toMatchObject({ cursor: 5, size: SIZE, approximate: false });
  await session.screen.read();
  expect(session.made).toBe(2);
});

test("[SCR-36] much output followed by silence becomes a keyframe", async () => {
  const session = new Session({ limits: { quietMs: 1 } });
  const output = terminalText(3_000);

  session.feed(output);

  await eventually(() => expect(session.keyframes.at(-1)).toMatchObject({ cursor: output.length }));
  expect(session.screen.retained).toBe(0);
});

test("[SCR-36] every mebibyte becomes a keyframe of at most 64 KiB", async () => {
  const session = new Session({ limits: { calmMs: 0, quietMs: 3_600_000 } });
  const output = terminalText(40_000);

  session.feed(output.subarray(0, MIB + 1_000));

  await eventually(() => expect(session.keyframes).toHaveLength(1));
  const [keyframe] = session.keyframes;
  expect(Buffer.byteLength(keyframe!.data)).toBeLessThanOrEqual(64 * 1_024);
  const other = new Emulator({ ...SIZE, keyframe: keyframe!.data, onReply: () => undefined });
  expect(other.read().lines).toEqual(shownBy(output.subarray(0, keyframe!.cursor)));
});

test("[SCR-37] a resize happens between the bytes where it happened", async () => {
  const session = new Session({ limits: RESTLESS });
  const other = new Emulator({ ...SIZE, onReply: () => undefined });
  session.feed("x".repeat(100));
  session.screen.resize({ cols: 40, rows: 10 });
  session.feed("\r\nafter\u001B[18t");
  other.feed(Buffer.from("x".repeat(100)), { answer: false });
  other.resize(40, 10);
  other.feed(Buffer.from("\r\nafter"), { answer: false });

  const content = await session.screen.read();

  expect(content).toMatchObject({ ...other.read(), size: { cols: 40, rows: 10 } });
  expect(session.replies).toEqual(["\u001B[8;10;40t"]);
});

test("[SCR-33] until a query is answered the program may be waiting for us", async () => {
  const answered = Promise.withResolvers<Uint8Array>();
  const session = new Session({ onReply: answered.resolve });
  session.feed("text");
  const before = session.screen.owesAnswer;

  session.feed("\u001B[6n");
  const asked = session.screen.owesAnswer;
  await answered.promise;

  expect([before, asked, session.screen.owesAnswer]).toEqual([false, true, false]);
});

describe("a flood", () => {
  const text = terminalText(1_300).subarray(0, 64 * 1_024);
  /** Whole lines: what follows must not be taken for the end of a sequence. */
  const chunk = text.subarray(0, text.lastIndexOf("\n") + 1);

  async function flood(session: Session, bytes: number): Promise<number> {
    let most = 0;
    for (let fed = 0; fed < bytes; fed += chunk.length) {
      session.feed(chunk);
      most = Math.max(most, session.screen.retained);
      if (fed % (8 * chunk.length) === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return most;
  }

  test("[SCR-38] of 100 MB that nobody looks at leaves bounded memory and the right last lines", async () => {
    const session = new Session();

    const most = await flood(session, 100 * MIB);
    session.feed("\r\n\u001B[31mlast but one\u001B[0m\r\nlast");

    const { lines, cursor, cursorRow } = await session.screen.read();
    expect(most).toBeLessThanOrEqual(LIMITS.waiting + chunk.length);
    expect(lines.slice(-2)).toEqual(["last but one", "last"]);
    expect([cursor, cursorRow]).toEqual([session.cursor, 23]);
  });

  test("[SCR-38] that somebody looks at is skipped through, keeps its modes and says so until the screen is cleared", async () => {
    const session = new Session();
    session.feed("\u001B[?1049h\u001B[?2004h\u001B[?1h");
    await session.screen.read();

    const most = await flood(session, 100 * MIB);
    session.feed("\r\nthe end");

    const content = await session.screen.read();
    const { ansi } = await session.screen.snapshot();
    session.feed("\u001B[2J");
    const cleared = await session.screen.read();
    expect(most).toBeLessThanOrEqual(LIMITS.waiting + chunk.length);
    expect(content).toMatchObject({ altScreen: true, approximate: true });
    expect(content.lines.at(-1)).toBe("the end");
    expect(ansi).toContain("\u001B[?2004h");
    expect(cleared.approximate).toBe(false);
  });

  test("[SCR-39] doesn't swallow a query", async () => {
    const session = new Session();
    await flood(session, 12 * MIB);
    session.feed("\u001B[5n");
    await flood(session, 30 * MIB);
    session.feed("\u001B[c");

    await eventually(() => expect(session.replies).toEqual(["\u001B[0n", "\u001B[?1;2c"]));
  });

  test("[SCR-40] of 100 MB is painted for a viewer up to its end", async () => {
    const session = new Session();
    await flood(session, 100 * MIB);

    const { cursor } = await session.screen.snapshot();

    // Not after a character that isn't complete yet.
    expect(session.cursor - cursor).toBeLessThan(4);
  });

  test("[SCR-38] without the session's scanner keeps its modes too", async () => {
    const session = new Session({
      modes: undefined,
      limits: { retained: MIB, keyframeEvery: 64 * MIB, keptInFlood: 1_000 },
    });
    session.feed("\u001B[?1049h");

    await flood(session, 4 * MIB);

    expect(await session.screen.read()).toMatchObject({ altScreen: true, approximate: true });
  });
});

test("[SCR-41] when the emulators can't be had, who waits is told, and the next one gets the screen", async () => {
  const ended = await Screens.open();
  await ended.close();
  const offers = [ended, screens];
  const session = new Session({ screens: async () => offers.shift()! });
  session.feed("text\u001B[c");

  await expect(session.screen.read()).rejects.toThrow("closed");
  const { lines } = await session.screen.read();

  expect(lines[0]).toBe("text");
  expect(session.replies).toEqual([]);
});

test("[SCR-41] when the thread of the emulators dies, the screen comes back with what follows, as approximate", async () => {
  const own = await Screens.open();
  onTestFinished(() => own.close());
  const session = new Session({ screens: async () => own });
  session.feed("before\u001B[?1049h");
  await session.screen.read();
  own.create({ ...SIZE, keyframe: 1 as unknown as string }); // the thread can't take it
  await eventually(async () => expect(await session.screen.read()).toMatchObject({ approximate: true }));

  session.feed("after\u001B[5n");

  const content = await session.screen.read();
  expect(content).toMatchObject({ altScreen: true, approximate: true });
  expect([content.lines[0], session.replies]).toEqual(["after", ["\u001B[0n"]]);
});

test("[SCR-42] a closed screen answers nobody and takes nothing", async () => {
  const session = new Session();
  session.feed("text");
  const waiting = session.screen.read();

  session.screen.close();
  session.feed("\u001B[c");

  await expect(waiting).rejects.toThrow("over");
  await expect(session.screen.snapshot()).rejects.toThrow("over");
  expect(session.replies).toEqual([]);
});

test("[SCR-31] who looks while a keyframe is about to be made is answered", async () => {
  const session = new Session({ limits: { quietBytes: 10, quietMs: 0, keyframeEvery: 100, calmMs: 0 } });
  session.feed("x\r\n".repeat(100));

  const { cursor } = await session.screen.read();

  expect(cursor).toBe(session.cursor);
});
