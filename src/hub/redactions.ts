/** Which ranges of a session's output were masked, so that an answer can say so: an agent must not write masks back. */
import type { StoredEvent } from "../domain/event.ts";
import type { EventLog } from "./ports.ts";

type Range = readonly [number, number];

const PAGE = 1000;
const SESSIONS = 500;

export class Redactions {
  readonly #log: EventLog;
  readonly #ranges = new Map<string, Promise<Range[]>>();

  constructor(log: EventLog) {
    this.#log = log;
    log.observe((events) => {
      for (const event of events) if (event.type === "redacted") this.#note(event);
    });
  }

  /** Those that touch `from` … `to`. */
  async within(sessionId: string, from: number, to: number): Promise<[number, number][]> {
    const ranges = await this.#all(sessionId);
    return ranges.filter(([begin, end]) => begin < to && end > from).map(([begin, end]) => [begin, end]);
  }

  #all(sessionId: string): Promise<Range[]> {
    let ranges = this.#ranges.get(sessionId);
    if (ranges === undefined) {
      if (this.#ranges.size >= SESSIONS) this.#ranges.clear();
      ranges = this.#load(sessionId);
      this.#ranges.set(sessionId, ranges);
      ranges.catch(() => this.#ranges.delete(sessionId));
    }
    return ranges;
  }

  #note(event: StoredEvent): void {
    this.#ranges.get(event.sessionId)?.then(
      (ranges) => ranges.push(...rangesOf(event)),
      () => undefined, // loaded again by whoever asks next
    );
  }

  async #load(sessionId: string): Promise<Range[]> {
    const ranges: Range[] = [];
    let after: number | undefined;
    for (;;) {
      const page = await this.#log.read({ sessionId, types: ["redacted"], after, limit: PAGE });
      if (page.length === 0) return ranges;
      for (const event of page) ranges.push(...rangesOf(event));
      after = page.at(-1)!.sequence;
    }
  }
}

function rangesOf({ payload }: StoredEvent): Range[] {
  return (payload["ranges"] as Range[] | undefined) ?? [];
}
