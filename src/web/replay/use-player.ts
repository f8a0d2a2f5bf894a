/** Where the replay is, and how it moves. */
import { useCallback, useEffect, useRef, useState } from "react";
import { cursorAt, lastWhere, msAt, type Place, type Recording } from "./recording.ts";

export const SPEEDS = [1, 2, 4, 16] as const;
export type Speed = (typeof SPEEDS)[number];

/** A longer silence is idle; of it so much is left. */
const IDLE_MS = 2_000;
const LEFT_MS = 500;
/** So soon after its first byte a shell has shown its prompt. */
const DRAWN_MS = 300;

export type Player = {
  readonly place: Place;
  readonly isPlaying: boolean;
  readonly speed: Speed;
  readonly skipsIdle: boolean;
  readonly seek: (place: Place) => void;
  readonly seekMs: (ms: number) => void;
  readonly play: (isPlaying: boolean) => void;
  readonly setSpeed: (speed: Speed) => void;
  readonly setSkipsIdle: (skips: boolean) => void;
};

export function usePlayer(recording: Recording, start: string | null): Player {
  const [place, setPlace] = useState(() => placeOf(recording, start));
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState<Speed>(1);
  const [skipsIdle, setSkipsIdle] = useState(true);
  const latest = useRef({ recording, place, speed, skipsIdle });
  latest.current = { recording, place, speed, skipsIdle };
  useEffect(() => setPlace(placeOf(latest.current.recording, start)), [start]);
  const seekMs = useCallback((ms: number): void => {
    const { endMs, points } = latest.current.recording;
    const at = Math.max(0, Math.min(endMs, Math.round(ms)));
    setPlace({ ms: at, cursor: cursorAt(points, at) });
  }, []);
  useEffect(() => {
    if (!isPlaying) return undefined;
    let before = performance.now();
    const step = (now: number): void => {
      const { recording: of, place: at, speed: times, skipsIdle: skips } = latest.current;
      const ms = at.ms + (now - before) * times;
      before = now;
      seekMs(skips ? afterIdle(of, ms) : ms);
      if (ms >= of.endMs && !of.isLive) setPlaying(false);
      else frame = requestAnimationFrame(step);
    };
    let frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, seekMs]);
  const play = useCallback(
    (wanted: boolean): void => {
      // From its end it begins again.
      if (wanted && latest.current.place.ms >= latest.current.recording.endMs) seekMs(0);
      setPlaying(wanted);
    },
    [seekMs],
  );
  return { place, isPlaying, speed, skipsIdle, seek: setPlace, seekMs, play, setSpeed, setSkipsIdle };
}

/** `?at=`: milliseconds since the session began, or `c` and a cursor; otherwise where there is something to see. */
export function placeOf({ points, endMs, endCursor, oldestCursor }: Recording, at: string | null): Place {
  const [, isCursor, digits] = /^(c?)(\d{1,15})$/.exec(at ?? "") ?? [];
  if (digits === undefined) return firstDrawn(points, oldestCursor);
  const wanted = Number(digits);
  if (isCursor === "c") {
    const cursor = Math.max(oldestCursor, Math.min(wanted, endCursor));
    return { ms: msAt(points, cursor), cursor };
  }
  const ms = Math.min(wanted, endMs);
  return { ms, cursor: cursorAt(points, ms) };
}

/** A terminal's first bytes often draw nothing: its prompt comes right behind them. */
function firstDrawn(points: readonly Place[], oldest: number): Place {
  const first = points.find((it) => it.cursor > oldest);
  if (first === undefined) return { ms: 0, cursor: oldest };
  return points[lastWhere(points, (it) => it.ms <= first.ms + DRAWN_MS)] ?? first;
}

export function afterIdle({ points, stops, endMs }: Recording, ms: number): number {
  const output = points[lastWhere(points, (it) => it.ms <= ms) + 1]?.ms ?? endMs;
  const stop = stops[lastWhere(stops, (it) => it.ms <= ms) + 1]?.ms ?? endMs;
  const next = Math.min(output, stop);
  return next - ms > IDLE_MS ? next - LEFT_MS : ms;
}
