/** The newest facts of sessions that run, in memory: a wait that looks at the present needs no page of the log. */
import type { EventType, StoredEvent } from "../domain/event.ts";
import type { EventLog } from "./ports.ts";

export type Place = { readonly cursor: number; readonly position: number };

const KEPT = 1000;

/** `floor` is the last fact that isn't held: everything after it is. */
type Ring = { facts: StoredEvent[]; floor: { sequence: number; position: number; cursor: number } };

export class RecentFacts {
  readonly #rings = new Map<string, Ring>();

  constructor(log: EventLog, types: readonly EventType[]) {
    const wanted = new Set<EventType>(types);
    log.observe((events) => {
      for (const event of events) if (wanted.has(event.type)) this.#note(event);
    });
  }

  /** Facts behind a place or a sequence, in order; undefined when some of them may be in the log only. */
  after(sessionId: string, from: Place, sequence: number | undefined): readonly StoredEvent[] | undefined {
    const ring = this.#rings.get(sessionId);
    if (ring === undefined) return undefined;
    const { floor, facts } = ring;
    const held = sequence === undefined ? isBehind(from, floor) : sequence >= floor.sequence;
    if (!held) return undefined;
    return sequence === undefined ? [...facts] : facts.slice(firstAfter(facts, sequence));
  }

  #note(event: StoredEvent): void {
    const { sessionId, sequence, position, cursor, payload } = event;
    if (event.type === "status") {
      if (payload["status"] === "closed") this.#rings.delete(sessionId);
      return;
    }
    if (position === undefined || cursor === undefined) return;
    let ring = this.#rings.get(sessionId);
    if (ring === undefined) {
      ring = { facts: [], floor: { sequence: sequence - 1, position: position - 1, cursor } };
      this.#rings.set(sessionId, ring);
    }
    ring.facts.push(event);
    if (ring.facts.length <= KEPT) return;
    const dropped = ring.facts.splice(0, KEPT / 2).at(-1)!;
    ring.floor = { sequence: dropped.sequence, position: dropped.position!, cursor: dropped.cursor! };
  }
}

function isBehind(from: Place, floor: Place): boolean {
  return from.position >= floor.position || from.cursor > floor.cursor;
}

function firstAfter(facts: readonly StoredEvent[], sequence: number): number {
  let low = 0;
  let high = facts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (facts[middle]!.sequence > sequence) high = middle;
    else low = middle + 1;
  }
  return low;
}
