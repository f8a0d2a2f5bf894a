/**
 * How a desk writes: decide against the folded state, store, and if somebody else's event came in between, decide
 * again. First decision wins because only one of two racing decisions finds the version it expected (LOG-3).
 */
import type { NewEvent, StoredEvent } from "../domain/event.ts";
import { AppError } from "../protocol/errors.ts";
import type { Durability, EventLog, Version } from "./ports.ts";
import { StorageFailed } from "./ports.ts";

export class Journal {
  readonly log: EventLog;
  readonly #versions = new Map<string, Version>();
  /** Whether the last append could not be stored. */
  failing = false;

  constructor(log: EventLog) {
    this.log = log;
    log.observe((events) => {
      for (const event of events) this.#versions.set(event.sessionId, event.sequence);
    });
  }

  /** `decide` sees the state as of now and throws an `AppError` to refuse; it may run more than once. */
  async record(stream: string, durability: Durability, decide: () => NewEvent): Promise<StoredEvent> {
    for (;;) {
      const event = decide();
      const result = await this.#append(stream, this.#versions.get(stream) ?? 0, [event], durability);
      if (result.ok) return result.events[0] as StoredEvent;
      this.#versions.set(stream, result.version);
    }
  }

  /** For what is a fact whatever else happened: output, input, housekeeping. */
  async note(stream: string, durability: Durability, events: readonly NewEvent[]): Promise<readonly StoredEvent[]> {
    const result = await this.#append(stream, "any", events, durability);
    if (!result.ok) throw new Error(`an append without an expected version conflicted in ${stream}`);
    return result.events;
  }

  /** A stream that is over; its version can be asked of the store again. */
  forget(stream: string): void {
    this.#versions.delete(stream);
  }

  async #append(stream: string, expected: Version | "any", events: readonly NewEvent[], durability: Durability) {
    try {
      const result = await this.log.append(stream, expected, events, durability);
      this.failing = false;
      return result;
    } catch (error) {
      if (!(error instanceof StorageFailed)) throw error;
      this.failing = true;
      throw new AppError(
        "storage_unavailable",
        { detail: `It could not be stored: ${error.message}` },
        { cause: error },
      );
    }
  }
}

/** Hands every kept event of some types to `fold`, then every new one as it is stored. */
export async function follow(
  log: EventLog,
  types: readonly NewEvent["type"][],
  fold: (event: StoredEvent) => void,
): Promise<void> {
  const wanted = new Set<string>(types);
  for await (const batch of log.scan(types)) for (const event of batch) fold(event);
  log.observe((events) => {
    for (const event of events) if (wanted.has(event.type)) fold(event);
  });
}
