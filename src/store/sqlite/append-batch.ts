/** Collects the appends of one turn of the loop into one message for the store's thread. */
import type { Durability, Version } from "../../hub/ports.ts";
import type { NewEvent } from "../../domain/event.ts";
import { ABSENT, ANY_VERSION, type AppendMessage } from "./messages.ts";

/** Payload characters of one append: all of a message must fit into one string. */
const APPEND_CHARACTERS = 1 << 28;

export type AppendRequest = {
  readonly stream: string;
  readonly expected: Version | "any";
  readonly events: readonly NewEvent[];
  readonly durability: Durability;
  readonly at: number;
};

export class AppendBatch {
  readonly #typeIds: ReadonlyMap<string, number>;
  readonly #streams: string[] = [];
  readonly #heads: number[] = [];
  readonly #rows: number[] = [];
  readonly #sources = new Map<string, number>();
  readonly #payloads: string[] = [];
  #power = false;

  constructor(typeIds: ReadonlyMap<string, number>) {
    this.#typeIds = typeIds;
  }

  /** Answers the size of the payloads. Throws, and takes nothing, if one of the events can't be stored as JSON. */
  add({ stream, expected, events, durability, at }: AppendRequest): number {
    // Checked before anything is taken: a malformed row would fail the whole group in the database.
    const payloads = events.map((event) => this.#encode(event));
    const characters = payloads.reduce((sum, payload) => sum + payload.length, 0);
    if (characters > APPEND_CHARACTERS) throw new Error(`too much for one append: ${characters} characters`);
    this.#streams.push(stream);
    this.#heads.push(expected === "any" ? ANY_VERSION : expected, at, events.length);
    for (const payload of payloads) this.#payloads.push(payload);
    for (const event of events) {
      const type = this.#typeIds.get(event.type)!;
      this.#rows.push(type, this.#source(event), event.position ?? ABSENT, event.cursor ?? ABSENT);
    }
    this.#power ||= durability === "power";
    return characters;
  }

  get isEmpty(): boolean {
    return this.#streams.length === 0;
  }

  message(): AppendMessage {
    return {
      kind: "append",
      streams: this.#streams,
      heads: Float64Array.from(this.#heads),
      rows: Float64Array.from(this.#rows),
      sources: [...this.#sources.keys()],
      payloads: this.#payloads.join("\n"),
      power: this.#power,
    };
  }

  #source({ source }: NewEvent): number {
    const name = `${source.kind} ${source.id}`;
    const known = this.#sources.get(name);
    if (known !== undefined) return known;
    this.#sources.set(name, this.#sources.size);
    return this.#sources.size - 1;
  }

  #encode({ type, payload, position = 0, cursor = 0 }: NewEvent): string {
    if (!this.#typeIds.has(type)) throw new Error(`unknown type of event: ${type}`);
    if (!isPosition(position) || !isPosition(cursor)) throw new Error(`not a position: ${position}, ${cursor}`);
    const text = JSON.stringify(payload) as string | undefined;
    if (text === undefined) throw new Error("a payload must be an object");
    return text;
  }
}

function isPosition(number: number): boolean {
  return Number.isSafeInteger(number) && number >= 0;
}
