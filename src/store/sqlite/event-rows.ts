/** Builds stored events: from what was just appended, and from a page of the database. */
import type { EventType, JsonObject, NewEvent, StoredEvent } from "../../domain/event.ts";
import { decodeSource } from "./audit-rows.ts";
import { type Page, PAGE_WIDTH } from "./messages.ts";

type Draft = { -readonly [Key in keyof StoredEvent]: StoredEvent[Key] };

export function stampEvents(
  events: readonly NewEvent[],
  stamp: { readonly stream: string; readonly at: number; readonly first: number },
): readonly StoredEvent[] {
  const timestamp = new Date(stamp.at).toISOString();
  return events.map((event, index) => {
    const draft: Draft = {
      sequence: stamp.first + index,
      sessionId: stamp.stream,
      type: event.type,
      timestamp,
      payload: event.payload,
      source: event.source,
    };
    if (event.position !== undefined) draft.position = event.position;
    if (event.cursor !== undefined) draft.cursor = event.cursor;
    return draft;
  });
}

export function decodePage(page: Page, types: readonly (string | undefined)[]): readonly StoredEvent[] {
  const payloads = JSON.parse(`[${page.payloads}]`) as JsonObject[];
  const sources = page.sources.map(decodeSource);
  let at = Number.NaN;
  let timestamp = "";
  return payloads.map((payload, index) => {
    const base = index * PAGE_WIDTH;
    const { rows } = page;
    if (rows[base + 1] !== at) {
      at = rows[base + 1]!;
      timestamp = new Date(at).toISOString();
    }
    const draft: Draft = {
      sequence: rows[base]!,
      sessionId: page.streams[rows[base + 4]!]!,
      type: types[rows[base + 2]!] as EventType,
      timestamp,
      payload,
      source: sources[rows[base + 3]!]!,
    };
    if (!Number.isNaN(rows[base + 5])) draft.position = rows[base + 5]!;
    if (!Number.isNaN(rows[base + 6])) draft.cursor = rows[base + 6]!;
    return draft;
  });
}
