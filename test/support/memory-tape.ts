/** A session's history in memory: what is in it is stored, what is added is live. */
import { once } from "node:events";
import type { EventType, JsonObject, StoredEvent } from "../../src/domain/event.ts";
import type { TapeItem, TapeReader } from "../../src/hub/wait-desk.ts";

export class MemoryTape implements TapeReader {
  readonly #items: TapeItem[] = [];
  readonly #changes = new EventTarget();
  #cursor = 0;
  #position = 0;
  #over = false;
  /** Where reads began. */
  readonly reads: { readonly cursor: number; readonly position: number }[] = [];

  static of(items: readonly TapeItem[]): MemoryTape {
    const tape = new MemoryTape();
    tape.#items.push(...items);
    tape.end();
    return tape;
  }

  get items(): readonly TapeItem[] {
    return this.#items;
  }

  output(output: string | Uint8Array): this {
    const bytes = typeof output === "string" ? Buffer.from(output) : output;
    this.#items.push({ kind: "bytes", cursor: this.#cursor, bytes });
    this.#cursor += bytes.length;
    this.#changes.dispatchEvent(new Event("change"));
    return this;
  }

  fact(type: EventType, payload: JsonObject = {}): this {
    this.#position += 1;
    this.#items.push({ kind: "fact", event: this.#event(type, payload) });
    this.#changes.dispatchEvent(new Event("change"));
    return this;
  }

  end(): this {
    this.#over = true;
    this.#changes.dispatchEvent(new Event("change"));
    return this;
  }

  async *read(
    _sessionId: string,
    from: { readonly cursor: number; readonly position: number },
    signal: AbortSignal,
  ): AsyncGenerator<readonly TapeItem[]> {
    this.reads.push(from);
    for (let at = 0; !signal.aborted;) {
      const item = this.#items[at];
      if (item === undefined) {
        if (this.#over) return;
        await once(this.#changes, "change", { signal }).catch(() => undefined);
        continue;
      }
      at += 1;
      const left = after(item, from);
      if (left !== undefined) yield [left];
    }
  }

  #event(type: EventType, payload: JsonObject): StoredEvent {
    return {
      type,
      payload,
      source: { kind: "host", id: "local" },
      sessionId: "s",
      sequence: this.#position,
      timestamp: "2026-01-01T00:00:00.000Z",
      position: this.#position,
      cursor: this.#cursor,
    };
  }
}

function after(item: TapeItem, from: { readonly cursor: number; readonly position: number }): TapeItem | undefined {
  if (item.kind === "fact") return (item.event.position ?? 0) > from.position ? item : undefined;
  const skipped = Math.max(0, from.cursor - item.cursor);
  if (skipped >= item.bytes.length) return undefined;
  return { kind: "bytes", cursor: item.cursor + skipped, bytes: item.bytes.subarray(skipped) };
}
