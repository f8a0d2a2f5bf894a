/**
 * A session's recorded history in order, stored then live: each fact comes after the bytes before its cursor and
 * before the bytes after it. What a wait reads, so the same from any place and at any time (WAI-1).
 */
import type { EventType, StoredEvent } from "../domain/event.ts";
import { type Place, RecentFacts } from "./recent-facts.ts";
import type { EventLog } from "./ports.ts";
import type { OutputDesk } from "./output-desk.ts";
import { keyframeCursor } from "./wait-screen.ts";
import type { TapeItem, TapeReader } from "./wait-desk.ts";

/** Types that a wait can end with or be judged at. */
const FACTS: readonly EventType[] = ["prompt", "quiet", "agent_block_end", "status", "resize"];
const CHUNK = 256 * 1024;
const PAGE = 1000;

export class Tape implements TapeReader {
  readonly #log: EventLog;
  readonly #output: OutputDesk;
  readonly #recent: RecentFacts;

  constructor(log: EventLog, output: OutputDesk) {
    this.#log = log;
    this.#output = output;
    this.#recent = new RecentFacts(log, FACTS);
  }

  async *read(sessionId: string, from: Place, signal: AbortSignal): AsyncGenerator<readonly TapeItem[]> {
    let cursor = from.cursor;
    let after: number | undefined;
    while (!signal.aborted) {
      const reach = this.#output.settled(sessionId);
      const end = reach?.cursor ?? (await this.#output.size(sessionId));
      const recent = this.#recent.after(sessionId, from, after);
      const page = recent ?? (await this.#log.read({ sessionId, types: FACTS, after, limit: PAGE }));
      // What stands behind the reach may still lack its bytes, or facts before it.
      const beyond = page.findIndex((it) => reach !== undefined && (it.position ?? 0) > reach.order);
      const facts = beyond < 0 ? page : page.slice(0, beyond);
      for (const event of facts) {
        after = event.sequence;
        if (event.type === "status" && event.payload["status"] !== "closed") continue;
        const place = Math.min(event.cursor ?? end, end);
        yield* this.#bytes(sessionId, cursor, place);
        cursor = Math.max(cursor, place);
        if ((event.position ?? Number.MAX_SAFE_INTEGER) > from.position) yield [{ kind: "fact", event }];
      }
      // Only an empty page of the log is its end.
      if (recent === undefined && beyond < 0 && page.length > 0) continue;
      yield* this.#bytes(sessionId, cursor, end);
      cursor = Math.max(cursor, end);
      if (reach === undefined) return;
      await this.#output.advanced(sessionId, reach, signal);
    }
  }

  /** The newest screen that was kept at or before a cursor. */
  async keyframe(sessionId: string, cursor: number): Promise<StoredEvent | undefined> {
    let newest: StoredEvent | undefined;
    for (;;) {
      const after = newest?.sequence;
      const page = await this.#log.read({ sessionId, types: ["keyframe"], after, limit: PAGE });
      const before = page.filter((it) => keyframeCursor(it) <= cursor);
      newest = before.at(-1) ?? newest;
      if (before.length === 0 || before.length < page.length) return newest;
    }
  }

  async *#bytes(sessionId: string, from: number, to: number): AsyncGenerator<readonly TapeItem[]> {
    for (let at = from; at < to;) {
      const bytes = await this.#output.range(sessionId, at, Math.min(CHUNK, to - at));
      if (bytes.length === 0) return;
      yield [{ kind: "bytes", cursor: at, bytes }];
      at += bytes.length;
    }
  }
}
