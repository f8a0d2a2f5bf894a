/**
 * The newest events, in memory, so that live readers never touch the database. Bounded by count and by size;
 * holds every event after `floor` without a gap.
 */
import type { StoredEvent } from "../../domain/event.ts";

/** A live reader may be so far behind before it reads from the database; also what an idle hub holds in memory. */
const MAX_EVENTS = 8_192;
const MAX_CHARACTERS = 8 * 1024 * 1024;

export class RecentEvents {
  #events: StoredEvent[] = [];
  /** Characters of `#events[i]` and all before it since the start; strictly growing. */
  #sizes: number[] = [];
  #start = 0;
  #evictedSize = 0;
  #floor: number;

  constructor(floor: number) {
    this.#floor = floor;
  }

  /** Every event after this sequence is here. */
  get floor(): number {
    return this.#floor;
  }

  push(events: readonly StoredEvent[], characters: number): void {
    const share = characters / events.length;
    let size = this.#sizes.at(-1) ?? this.#evictedSize;
    for (const event of events) {
      size += share;
      this.#events.push(event);
      this.#sizes.push(size);
    }
    while (this.#events.length - this.#start > MAX_EVENTS || size - this.#evictedSize > MAX_CHARACTERS) this.#evict();
    this.#compact();
  }

  /** Forgets events up to `sequence`: what was removed from the store must not be shown from memory. */
  dropThrough(sequence: number): void {
    while (this.#start < this.#events.length && this.#events[this.#start]!.sequence <= sequence) this.#evict();
    this.#floor = Math.max(this.#floor, Math.min(sequence, this.#events[this.#start]?.sequence ?? sequence));
    this.#compact();
  }

  /** The events after `cursor`, at most `limit`; only for a cursor that is not below the floor. */
  after(cursor: number, limit: number): readonly StoredEvent[] {
    let low = this.#start;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#events[middle]!.sequence <= cursor) low = middle + 1;
      else high = middle;
    }
    return this.#events.slice(low, low + limit);
  }

  #evict(): void {
    this.#floor = this.#events[this.#start]!.sequence;
    this.#evictedSize = this.#sizes[this.#start]!;
    this.#start += 1;
  }

  /** Rarely, so that evicting costs nothing on average; half the array may be dead weight. */
  #compact(): void {
    if (this.#start < MAX_EVENTS && this.#start < this.#events.length) return;
    this.#events = this.#events.slice(this.#start);
    this.#sizes = this.#sizes.slice(this.#start);
    this.#start = 0;
  }
}
