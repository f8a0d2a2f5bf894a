/** Draws the screen of a cursor anew, from a screen that was kept and the bytes behind it. Nobody sees it half done. */
import type { Keyframe } from "../../protocol/history.ts";
import type { Past } from "./past.ts";
import type { Screen } from "./screen.ts";

export type Redrawing = {
  /** Lines from here on are wanted too, not only the screen. Absent: only the screen. */
  readonly from?: number;
  readonly to: number;
  /** Cursors at which `onPlace` is called, in order. */
  readonly places?: readonly number[];
  readonly onPlace?: (cursor: number) => void;
};

/** `from`: the first byte whose lines are drawn. */
export type Redrawn = { readonly from: number; readonly approximate: boolean };

/** Where a flood left no screen for so long, what is on it was printed within the last of it, near enough. */
const FAR_BYTES = 4 * 1024 * 1024;
const LAST_BYTES = 1024 * 1024;
const LINES_BYTES = 16 * 1024 * 1024;

/** Rejects, with nothing changed, when what it needs can't be had. */
export async function redraw(screen: Screen, past: Past, drawing: Redrawing): Promise<Redrawn> {
  const { to } = drawing;
  const begin = await past.keyframe(drawing.from ?? to, to);
  const isFar = drawing.from === undefined && to - begin.cursor > FAR_BYTES;
  const from = Math.max(begin.cursor, to - (isFar ? LAST_BYTES : LINES_BYTES));
  const parts = await past.bytes(from, to);
  screen.isHidden = true;
  try {
    await screen.show(begin.data ?? "", begin.cols, begin.rows);
    const places = (drawing.places ?? []).filter((it) => it >= from);
    await paint(screen, { parts, from }, stepsOf(screen, begin, { ...drawing, places }));
  } finally {
    screen.isHidden = false;
  }
  return { from, approximate: begin.approximate || from > begin.cursor };
}

type Step = { readonly cursor: number; readonly act: () => void };

function stepsOf(screen: Screen, { resizes }: Keyframe, { places = [], onPlace, to }: Redrawing): Step[] {
  return [
    ...resizes.map(([cursor, cols, rows]) => ({ cursor, act: () => screen.resize(cols, rows) })),
    ...places.map((cursor) => ({ cursor, act: () => onPlace?.(cursor) })),
  ]
    .filter(({ cursor }) => cursor <= to)
    .sort((a, b) => a.cursor - b.cursor);
}

type Bytes = { readonly parts: readonly Uint8Array[]; readonly from: number };

async function paint(screen: Screen, { parts, from }: Bytes, all: readonly Step[]): Promise<void> {
  // What is drawn first was made for the size that had come by then, though its bytes are left out.
  const steps = all.map((it) => ({ ...it, cursor: Math.max(it.cursor, from) }));
  let at = from;
  for (const part of parts) {
    const end = at + part.length;
    let done = 0;
    while (steps[0] !== undefined && steps[0].cursor < end) {
      const step = steps.shift()!;
      await screen.write(part.subarray(done, step.cursor - at));
      done = step.cursor - at;
      step.act();
    }
    await screen.write(part.subarray(done));
    at = end;
  }
  for (const { act } of steps) act();
}
