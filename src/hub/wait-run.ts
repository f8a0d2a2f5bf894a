/** One wait as it goes along its tape: which item ends it, and where to go on if none does. */
import type { StoredEvent } from "../domain/event.ts";
import { isQuietPoint, tokenOf } from "./wait-token.ts";
import type { TapeItem, WaitAnswer, WaitReason, WaitRequest } from "./wait-desk.ts";
import type { ScreenWatch } from "./wait-screen.ts";
import type { TextWatch } from "./wait-text.ts";

type Watches = { readonly text: TextWatch | undefined; readonly screen: ScreenWatch | undefined };
type Candidate = Omit<WaitAnswer, "matched" | "reason"> & { readonly which: number };

export class WaitRun {
  readonly #request: WaitRequest;
  readonly #text: TextWatch | undefined;
  readonly #screen: ScreenWatch | undefined;
  readonly #limit: number;
  /** How far the output was looked at. */
  #end: number;
  /** Of the last fact. */
  #position: number;

  constructor(request: WaitRequest, { text, screen }: Watches) {
    this.#request = request;
    this.#text = text;
    this.#screen = screen;
    this.#limit = request.fromCursor + (request.maxBytes ?? Number.POSITIVE_INFINITY);
    this.#end = request.fromCursor;
    this.#position = request.fromPosition;
  }

  async take(item: TapeItem): Promise<WaitAnswer | undefined> {
    if (item.kind === "bytes") return this.#bytes(item.cursor, item.bytes);
    const answer = await this.#fact(item.event);
    this.#position = Math.max(this.#position, item.event.position ?? 0);
    return answer;
  }

  unmatched(reason: Exclude<WaitReason, "match">): WaitAnswer {
    return {
      matched: false,
      reason,
      cursor: this.#text === undefined ? this.#end : this.#text.resumeCursor,
      position: this.#position,
    };
  }

  async #bytes(cursor: number, bytes: Uint8Array): Promise<WaitAnswer | undefined> {
    this.#screen?.feed(bytes);
    const after = cursor + bytes.length;
    if (after <= this.#end) return undefined;
    if (cursor > this.#end) throw new Error(`the tape goes on at ${cursor} after ${this.#end}`);
    const fresh = bytes.subarray(this.#end - cursor, Math.min(after, this.#limit) - cursor);
    this.#end += fresh.length;
    const hit = await this.#text?.push(fresh);
    if (hit !== undefined) return matched(this.#ofText(hit));
    return this.#end >= this.#limit ? this.unmatched("max_bytes") : undefined;
  }

  async #fact(event: StoredEvent): Promise<WaitAnswer | undefined> {
    if (event.type === "resize") this.#screen?.resize(event);
    const { fromCursor, fromPosition, conditions } = this.#request;
    const cursor = event.cursor ?? this.#end;
    const position = event.position ?? this.#position;
    const later = event.position === undefined || event.position > fromPosition;
    if (!later || cursor < fromCursor || !isQuietPoint(event)) return undefined;

    const candidates: Candidate[] = [];
    const token = tokenOf(event, conditions, this.#request.runId);
    if (token !== undefined) candidates.push({ which: token, matchBegin: cursor, cursor, position, fact: event });
    const hit = await this.#text?.quiet(cursor);
    if (hit !== undefined) candidates.push(this.#ofText(hit));
    const shown = await this.#screen?.quiet();
    if (shown !== undefined) {
      candidates.push({ which: shown.which, matchText: shown.text, cursor, position: this.#position });
    }
    const best = candidates.toSorted((one, other) => one.cursor - other.cursor || one.which - other.which)[0];
    return best && matched(best);
  }

  /** Its position is before the fact at which it was decided: the next wait may want just that fact. */
  #ofText(hit: { which: number; text: string; begin: number; end: number }): Candidate {
    return {
      which: hit.which,
      matchText: hit.text,
      matchBegin: hit.begin,
      cursor: hit.end,
      position: this.#position,
    };
  }
}

function matched(candidate: Candidate): WaitAnswer {
  return { matched: true, reason: "match", ...candidate };
}
