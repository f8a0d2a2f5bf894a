/** One session on one line: who drove, how much was printed, which commands ran, what was asked; and where the replay is. */
import { type KeyboardEvent, memo, type PointerEvent, type ReactNode, useMemo } from "react";
import { DRIVER_SIGNS, type Driver, driverOf, driverText } from "../model/driver.ts";
import { durationText } from "../ui/time.tsx";
import type { Player } from "./use-player.ts";
import { cursorAt, type Recording, type Stop } from "./recording.ts";

const BINS = 400;
/** More can't be told apart. */
const PARTS_MAX = 400;
const STEP_MS = 1_000;

export function Track({ recording, player }: { readonly recording: Recording; readonly player: Player }): ReactNode {
  const { endMs } = recording;
  const { ms } = player.place;
  const seekTo = (event: PointerEvent<HTMLDivElement>): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    player.seekMs(((event.clientX - left) / width) * endMs);
  };
  const onKey = (event: KeyboardEvent): void => {
    const by = (event.shiftKey ? 10 : 1) * STEP_MS;
    const to = { ArrowLeft: ms - by, ArrowRight: ms + by, PageUp: ms - 60_000, PageDown: ms + 60_000 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    player.seekMs(to);
  };
  return (
    <div className="track">
      <div
        className="track-lanes"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          seekTo(event);
        }}
        onPointerMove={(event) => event.buttons === 1 && seekTo(event)}
      >
        <Lanes recording={recording} />
        <span className="playhead" style={{ left: share(ms, endMs) }} aria-hidden="true" />
      </div>
      <input
        type="range"
        aria-label="Time"
        aria-valuetext={`${durationText(ms)} of ${durationText(endMs)}`}
        min={0}
        max={endMs}
        step={1}
        value={ms}
        onKeyDown={onKey}
        onChange={(event) => player.seekMs(Number(event.target.value))}
      />
      <Legend stops={recording.stops} />
    </div>
  );
}

const Lanes = memo(function Lanes({ recording }: { readonly recording: Recording }): ReactNode {
  const { commands, stops, endMs } = recording;
  const drives = useMemo(() => driversOf(recording), [recording]);
  return (
    <>
      <div className="lane lane-drive" aria-hidden="true">
        {spread(drives, (it) => it.fromMs, endMs).map(({ fromMs, toMs, driver }, index) => (
          <span
            key={`${fromMs}-${index}`}
            data-driver={driver.kind}
            title={driverText(driver)}
            style={{ left: share(fromMs, endMs), width: share(toMs - fromMs, endMs) }}
          >
            {DRIVER_SIGNS[driver.kind]} {driver.name}
          </span>
        ))}
      </div>
      <Activity recording={recording} />
      <div className="lane lane-commands" aria-hidden="true">
        {spread(commands, (it) => it.fromMs, endMs).map(({ fromMs, toMs, text, isBad }, index) => (
          <span
            key={`${fromMs}-${index}`}
            data-bad={isBad}
            title={text}
            style={{ left: share(fromMs, endMs), width: share(toMs - fromMs, endMs) }}
          />
        ))}
      </div>
      <div className="lane lane-stops" aria-hidden="true">
        {spread(stops, (it) => it.ms, endMs).map(({ ms, kind, text, sequence }) => (
          <span key={sequence} data-kind={kind} title={text} style={{ left: share(ms, endMs) }}>
            {MARKS[kind]}
          </span>
        ))}
      </div>
    </>
  );
});

type Drive = { readonly fromMs: number; readonly toMs: number; readonly driver: Driver };

/** One after the other; who drives on through changes of something else is one. */
function driversOf({ bands }: Recording): readonly Drive[] {
  const drives: Drive[] = [];
  for (const { fromMs, toMs, control } of bands) {
    const driver = driverOf(control, undefined);
    const last = drives.at(-1);
    if (last?.driver.kind === driver.kind && last.driver.name === driver.name)
      drives[drives.length - 1] = { ...last, toMs };
    else drives.push({ fromMs, toMs, driver });
  }
  return drives;
}

const MARKS = { command: "$", control: "⇄", question: "?", approval: "!", end: "■" } as const satisfies Record<
  Stop["kind"],
  string
>;

const MEANINGS = {
  command: "command",
  control: "who drives, or what the person wants",
  question: "question of a program",
  approval: "approval",
  end: "end",
} as const satisfies Record<Stop["kind"], string>;

/** What the marks mean that are there. */
const Legend = memo(function Legend({ stops }: Pick<Recording, "stops">): ReactNode {
  const kinds = new Set(stops.map((it) => it.kind));
  return (
    <ul className="legend soft" aria-label="Marks">
      {(Object.keys(MEANINGS) as Stop["kind"][])
        .filter((it) => kinds.has(it))
        .map((it) => (
          <li key={it}>
            <span data-kind={it}>{MARKS[it]}</span> {MEANINGS[it]}
          </li>
        ))}
    </ul>
  );
});

function Activity({ recording }: { readonly recording: Recording }): ReactNode {
  const path = useMemo(() => activityPath(recording), [recording]);
  return (
    <svg className="lane lane-output" viewBox={`0 0 ${BINS} 1`} preserveAspectRatio="none" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

/** By the logarithm: a flood must not make everything else invisible. */
function activityPath({ points, endMs }: Recording): string {
  const reached = Array.from({ length: BINS + 1 }, (_, bin) => cursorAt(points, (bin / BINS) * endMs));
  const printed = reached.slice(1).map((cursor, bin) => Math.log2(1 + cursor - reached[bin]!));
  const most = Math.max(1, ...printed);
  return printed.map((it, bin) => (it === 0 ? "" : `M${bin} 1v${(-it / most).toFixed(3)}h1V1z`)).join("");
}

/** At most one for each place that can be told apart, the last ones of their places. */
function spread<T>(list: readonly T[], msOf: (it: T) => number, endMs: number): readonly T[] {
  if (list.length <= PARTS_MAX) return list;
  return [...new Map(list.map((it) => [Math.floor((msOf(it) / Math.max(1, endMs)) * PARTS_MAX), it])).values()];
}

function share(ms: number, endMs: number): string {
  return `${(100 * Math.min(1, ms / Math.max(1, endMs))).toFixed(3)}%`;
}
