/**
 * A session's past as the track shows it: where the output stood at each time, who drove, what happened. Folded from the timeline by
 * the rules that the live page uses. Rules WEB-70..WEB-74 in docs/spec/web.md.
 */
import { applyControl } from "../../domain/control-record.ts";
import { type ControlState, initialControl } from "../../domain/control-state.ts";
import type { NewEvent } from "../../domain/event.ts";
import type { Timeline, TimelineItem } from "../../protocol/history.ts";
import { type Driver, driverOf, driverText, factsOf } from "../model/driver.ts";

export type Place = { readonly ms: number; readonly cursor: number };

/** `fromCursor`: what was printed after it was printed under it, whatever the clocks say. */
export type Band = {
  readonly fromMs: number;
  readonly fromCursor: number;
  readonly toMs: number;
  readonly control: ControlState;
};
export type Span = { readonly fromMs: number; readonly toMs: number; readonly text: string; readonly isBad: boolean };

/** What one can jump to. */
export type Stop = Place & { readonly sequence: number; readonly kind: StopKind; readonly text: string };
export type StopKind = "command" | "control" | "question" | "approval" | "end";

export type Resize = { readonly cursor: number; readonly cols: number; readonly rows: number };

export type Recording = {
  readonly beganAt: number;
  readonly endMs: number;
  readonly isLive: boolean;
  readonly endCursor: number;
  /** The first byte that is kept: of what was before there is no screen, and asking for one fails. */
  readonly oldestCursor: number;
  /** Both grow. */
  readonly points: readonly Place[];
  readonly bands: readonly Band[];
  readonly commands: readonly Span[];
  readonly stops: readonly Stop[];
  readonly resizes: readonly Resize[];
};

export function recordingOf(head: Timeline, items: readonly TimelineItem[]): Recording {
  const points = pointsOf(head, items);
  const end = { ms: head.end_ms, cursor: head.end_cursor };
  return {
    beganAt: head.began_at,
    endMs: head.end_ms,
    isLive: head.live,
    endCursor: head.end_cursor,
    oldestCursor: head.oldest_cursor,
    points: [...points, end],
    bands: bandsOf(items, head.end_ms),
    commands: commandsOf(items, head.end_ms),
    stops: items.flatMap((it) => stopOf(it, points, head.oldest_cursor)),
    resizes: items.flatMap(({ type, cursor = 0, payload }) =>
      type === "resize" ? [{ cursor, cols: Number(payload["cols"]), rows: Number(payload["rows"]) }] : [],
    ),
  };
}

/** A later answer about the same session. Asked without its activity, when it came is when its output was there. */
export function grown(before: Timeline, after: Timeline): Timeline {
  if (after.activity.length > 0) return after;
  const isMore = after.end_cursor > before.end_cursor;
  const activity = isMore
    ? [...before.activity, [after.end_ms, after.end_cursor] satisfies [number, number]]
    : before.activity;
  return { ...after, activity };
}

/** How much output there was at a time. */
export function cursorAt(points: readonly Place[], ms: number): number {
  return points[lastWhere(points, (it) => it.ms <= ms)]?.cursor ?? 0;
}

/** When a byte was there. */
export function msAt(points: readonly Place[], cursor: number): number {
  return points[lastWhere(points, (it) => it.cursor < cursor) + 1]?.ms ?? points.at(-1)?.ms ?? 0;
}

export function controlAt(bands: readonly Band[], { ms, cursor }: Place): ControlState | undefined {
  return bands[lastWhere(bands, (it) => it.fromMs <= ms || it.fromCursor < cursor)]?.control;
}

/** `last`: what happened last, unless that is how they came to drive. */
export type Moment = { readonly driverKind: Driver["kind"]; readonly drove: string; readonly last: string | undefined };

export function momentAt({ bands, stops }: Recording, place: Place): Moment {
  const control = controlAt(bands, place);
  const driver = driverOf(control, undefined);
  const why = control === undefined ? "" : factsOf(control, driver);
  const did = driverText(driver)
    .replace(/ drives$/u, " drove")
    .replace(/ may drive$/u, " might have driven");
  const last = stops[lastWhere(stops, (it) => it.ms <= place.ms)]?.text;
  return {
    driverKind: driver.kind,
    drove: sentence(did, why),
    last: last === sentence(driverText(driver), why) ? undefined : last,
  };
}

/** Of a list for which it is true up to some place: that place; -1 where it is true for none. */
export function lastWhere<T>(list: readonly T[], isTrue: (it: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isTrue(list[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Output and facts tell of the same clock; neither is finer everywhere. */
function pointsOf({ activity, end_ms, end_cursor, oldest_cursor }: Timeline, items: readonly TimelineItem[]): Place[] {
  const told = [
    ...activity.map(([ms, cursor]) => ({ ms, cursor })),
    ...items.flatMap(({ at_ms: ms, cursor }) => (cursor === undefined ? [] : [{ ms, cursor }])),
  ].sort((a, b) => a.ms - b.ms || a.cursor - b.cursor);
  const points: Place[] = [{ ms: 0, cursor: oldest_cursor }];
  for (const { ms, cursor } of told) {
    const last = points.at(-1)!;
    if (ms > end_ms || cursor <= last.cursor) continue;
    points.push({ ms, cursor: Math.min(cursor, end_cursor) });
  }
  return points;
}

function bandsOf(items: readonly TimelineItem[], endMs: number): readonly Band[] {
  const bands: Band[] = [{ fromMs: 0, fromCursor: 0, toMs: endMs, control: initialControl(false) }];
  for (const item of items) {
    const { control, fromMs, fromCursor } = bands.at(-1)!;
    const after = applyControl(control, eventOf(item)) ?? control;
    if (after === control) continue;
    bands[bands.length - 1] = { fromMs, fromCursor, toMs: item.at_ms, control };
    const cursor = item.cursor ?? Number.POSITIVE_INFINITY;
    bands.push({ fromMs: item.at_ms, fromCursor: cursor, toMs: endMs, control: after });
  }
  return bands;
}

function eventOf({ type, payload, by }: TimelineItem): NewEvent {
  return { type, payload, source: by as NewEvent["source"] };
}

function commandsOf(items: readonly TimelineItem[], endMs: number): readonly Span[] {
  const spans = new Map<unknown, Span>();
  for (const { type, payload, at_ms } of items) {
    const { blockId, exitCode } = payload;
    const begun = spans.get(blockId);
    if (type === "agent_block_begin") {
      spans.set(blockId, { fromMs: at_ms, toMs: endMs, text: textIn(payload, ["cmd"]), isBad: false });
    } else if (type === "agent_block_end" && begun !== undefined) {
      spans.set(blockId, { ...begun, toMs: at_ms, isBad: exitCode !== 0 });
    }
  }
  return [...spans.values()];
}

function stopOf(item: TimelineItem, points: readonly Place[], oldest: number): Stop[] {
  const told = toldBy(item);
  if (told === undefined) return [];
  const ms = item.at_ms;
  const cursor = Math.max(oldest, item.cursor ?? cursorAt(points, ms));
  return [{ ...told, ms, cursor, sequence: item.sequence }];
}

function toldBy(item: TimelineItem): Pick<Stop, "kind" | "text"> | undefined {
  const { type, payload, by } = item;
  switch (type) {
    case "agent_block_begin":
      return { kind: "command", text: `${by.id}: ${textIn(payload, ["cmd"])}` };
    case "control_handoff":
      return controlText(item);
    case "intent":
      return { kind: "control", text: `${by.id} wants ${textIn(payload, ["user_intent", "intent"])}` };
    case "prompt_request":
      return { kind: "question", text: `A program asks: ${textIn(payload, ["question", "text", "excerpt", "kind"])}` };
    case "prompt_decision":
      return { kind: "question", text: `The question was ${textIn(payload, ["status", "decision"])}` };
    case "approval_request":
      return { kind: "approval", text: `Approval asked: ${textIn(payload, ["action", "kind"])}` };
    case "approval_decision":
      return { kind: "approval", text: `Approval: ${textIn(payload, ["status", "decision"])} by ${by.id}` };
    case "status":
      return payload["status"] === "closed" ? { kind: "end", text: "The session ended" } : undefined;
    default:
      return undefined;
  }
}

function controlText(item: TimelineItem): Pick<Stop, "kind" | "text"> | undefined {
  const control = applyControl(undefined, eventOf(item));
  if (control === undefined) return undefined;
  const driver = driverOf(control, undefined);
  return { kind: "control", text: sentence(driverText(driver), factsOf(control, driver)) };
}

function sentence(...parts: readonly string[]): string {
  return parts.filter(Boolean).join(", ");
}

function textIn(payload: TimelineItem["payload"], keys: readonly string[]): string {
  const texts = keys.map((key) => payload[key]).filter((it) => typeof it === "string");
  return texts.find((it) => it !== "") ?? "";
}
