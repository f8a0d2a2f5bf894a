import { expect, test } from "vitest";
import type { Keyframe } from "../../protocol/history.ts";
import type { Past } from "./past.ts";
import { redraw } from "./redraw.ts";
import type { Screen } from "./screen.ts";

const MIB = 1024 * 1024;

/** Says what was done with it. */
function screenThat(did: string[]): Screen {
  const screen: Partial<Screen> = {
    isHidden: false,
    show: async (_data, cols, rows) => void did.push(`${cols}x${rows}`),
    resize: (cols, rows) => void did.push(`${cols}x${rows}`),
    write: async (data) => void (data.length > 0 && did.push(`${data.length} bytes`)),
  };
  return screen as Screen;
}

function pastFrom(begin: Keyframe): Past {
  const past: Partial<Past> = {
    keyframe: async () => begin,
    bytes: async (from, to) => [new Uint8Array(to - from)],
  };
  return past as Past;
}

test("[WEB-74] where the output between is left out, the last of it is drawn in the size that it was made for", async () => {
  const resizes: Keyframe["resizes"] = [
    [MIB, 132, 43],
    [9 * MIB + 10, 100, 30],
  ];
  const past = pastFrom({ cursor: 0, cols: 80, rows: 24, resizes, approximate: false });
  const did: string[] = [];

  const drawn = await redraw(screenThat(did), past, { to: 10 * MIB });

  expect(drawn).toEqual({ from: 9 * MIB, approximate: true });
  expect(did).toEqual(["80x24", "132x43", "10 bytes", "100x30", `${MIB - 10} bytes`]);
});

test("[WEB-37] a place whose bytes are left out is told nowhere", async () => {
  const past = pastFrom({ cursor: 0, cols: 80, rows: 24, resizes: [], approximate: false });
  const places = [MIB, 10 * MIB];
  const told: number[] = [];

  await redraw(screenThat([]), past, { from: 0, to: 20 * MIB, places, onPlace: (cursor) => told.push(cursor) });

  expect(told).toEqual([10 * MIB]);
});
