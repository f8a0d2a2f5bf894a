import { expect, test } from "vitest";
import type { Past } from "../terminal/past.ts";
import type { Screen } from "../terminal/screen.ts";
import { ReplayScreen } from "./replay-screen.ts";

const RESIZES = [{ cursor: 200, cols: 100, rows: 30 }];
const AWAY = new Error("the hub is away");

/** A screen that says what was drawn, from a past of which `failing` can't be had, each once. */
function replaying(failing: readonly number[]) {
  const did: string[] = [];
  const left = new Set(failing);
  const screen: Partial<Screen> = {
    isHidden: false,
    show: async () => void did.push("anew"),
    resize: (cols, rows) => void did.push(`${cols}x${rows}`),
    write: async (data) => void (data.length > 0 && did.push(`${data.length} bytes`)),
  };
  const past: Partial<Past> = {
    keyframe: async () => ({ cursor: 0, cols: 80, rows: 24, resizes: [[200, 100, 30]], approximate: false }),
    bytes: async (from, to) => {
      if (left.delete(to)) throw AWAY;
      return [new Uint8Array(to - from)];
    },
  };
  const shown: number[] = [];
  return {
    replay: new ReplayScreen(screen as Screen, past as Past, ({ cursor }) => shown.push(cursor)),
    did,
    shown,
  };
}

test("[WEB-71] what failed halfway is drawn anew, not on top of what is half drawn", async () => {
  const { replay, did, shown } = replaying([300]);
  await replay.show(100, RESIZES);

  await expect(replay.show(300, RESIZES)).rejects.toBe(AWAY);
  await replay.show(300, RESIZES);

  expect(did).toEqual(["anew", "100 bytes", "100 bytes", "100x30", "anew", "200 bytes", "100x30", "100 bytes"]);
  expect(shown).toEqual([100, 300]);
});

test("[WEB-71] a moment that is asked for again while its first try fails is drawn", async () => {
  const { replay, shown } = replaying([300]);

  await Promise.all([replay.show(300, RESIZES), replay.show(300, RESIZES)]);

  expect(shown).toEqual([300]);
});
