/**
 * A session as a file, made while it is read: nothing is held but the piece that is being sent. What it holds is what was
 * stored, masked where it was masked. Rules WEB-65..WEB-67 in docs/spec/web.md.
 */
import { Asciicast } from "../domain/asciicast.ts";
import { recorded } from "../domain/control-record.ts";
import type { EventType, StoredEvent } from "../domain/event.ts";
import type { Session } from "../domain/session.ts";
import type { Size } from "../domain/session-frame.ts";
import type { ExportFormat } from "../protocol/history.ts";
import type { HistoryDesk } from "./history-desk.ts";
import type { KeptScreens } from "./kept-screens.ts";
import type { OutputDesk } from "./output-desk.ts";
import type { ByteStore, EventLog, Reached } from "./ports.ts";
import type { SessionDesk } from "./session-desk.ts";

export type RecordingParts = {
  readonly log: EventLog;
  readonly bytes: Pick<ByteStore, "times">;
  readonly output: OutputDesk;
  readonly sessions: Pick<SessionDesk, "get">;
  readonly history: Pick<HistoryDesk, "keyframe">;
  readonly screens: Pick<KeptScreens, "firstFrom">;
};

const PAGE = 500;
const PIECE = 64 * 1024;
const MARKED: readonly EventType[] = ["resize", "agent_block_begin", "agent_block_end", "control_handoff", "status"];

export class Recordings {
  readonly #parts: RecordingParts;

  constructor(parts: RecordingParts) {
    this.#parts = parts;
  }

  /** Throws before the first piece if there is no such session. */
  of(sessionId: string, format: ExportFormat): AsyncGenerator<string> {
    const session = this.#parts.sessions.get(sessionId);
    return format === "jsonl" ? this.#events(sessionId) : this.#cast(session);
  }

  async *#events(sessionId: string): AsyncGenerator<string> {
    for await (const page of this.#pages(sessionId, undefined)) {
      yield page.map((event) => `${JSON.stringify(event)}\n`).join("");
    }
  }

  async *#cast(session: Session): AsyncGenerator<string> {
    const { sessionId, createdAt, title } = session;
    const { output, bytes, history, screens } = this.#parts;
    const [oldest, end, times] = await Promise.all([
      output.oldest(sessionId),
      output.size(sessionId),
      bytes.times(sessionId),
    ]);
    // Where the beginning is no longer kept, the first screen that is stands for it.
    const begin = oldest === 0 ? 0 : ((await screens.firstFrom(sessionId, oldest)) ?? oldest);
    const { cols, rows, data, cursor } = await history.keyframe({ sessionId, at_cursor: begin });
    const cast = new Asciicast({ cols, rows, title, beganAt: Date.parse(createdAt) });
    yield cast.header();
    const tape = new Tape({ cast, output, sessionId, times, at: cursor });
    if (data !== undefined) yield cast.event(0, "o", data);
    let size: Size = { cols, rows };
    for await (const page of this.#pages(sessionId, MARKED)) {
      for (const event of page) {
        const told = markOf(event, size);
        if (told === undefined) continue;
        if (event.type === "resize") size = event.payload as Size;
        const atMs = Date.parse(event.timestamp);
        yield* tape.until(Math.min(end, placeOf(event, end)), atMs);
        yield cast.event(atMs, told.code, told.data);
      }
    }
    yield* tape.until(end, Infinity);
  }

  /** All that there was when it began. */
  async *#pages(sessionId: string, types: readonly EventType[] | undefined): AsyncGenerator<readonly StoredEvent[]> {
    const { log } = this.#parts;
    const { head } = log;
    for (let after: number | undefined; ;) {
      const page = await log.read({ sessionId, types, after, limit: PAGE });
      const known = page.filter((it) => it.sequence <= head);
      if (known.length > 0) yield known;
      if (known.length < page.length || page.length === 0) return;
      after = page.at(-1)!.sequence;
    }
  }
}

type TapeParts = {
  readonly cast: Asciicast;
  readonly output: OutputDesk;
  readonly sessionId: string;
  readonly times: readonly Reached[];
  readonly at: number;
};

/** The output as events, each piece at the time by which it was there. */
class Tape {
  readonly #parts: TapeParts;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #at: number;
  #next = 0;
  #lastMs = 0;

  constructor(parts: TapeParts) {
    this.#parts = parts;
    this.#at = parts.at;
  }

  /** What stands before a place, and so came before `byMs`. */
  async *until(to: number, byMs: number): AsyncGenerator<string> {
    const { cast, output, sessionId, times } = this.#parts;
    while (this.#at < to) {
      while (this.#next < times.length && times[this.#next]![1] <= this.#at) this.#next += 1;
      const [reachedMs, reached] = times[this.#next] ?? [Number.isFinite(byMs) ? byMs : this.#lastMs, to];
      const bytes = await output.range(sessionId, this.#at, Math.min(PIECE, Math.min(to, reached) - this.#at));
      if (bytes.length === 0) return;
      this.#at += bytes.length;
      this.#lastMs = Math.min(reachedMs, byMs);
      const text = this.#decoder.decode(bytes, { stream: true });
      if (text !== "") yield cast.event(this.#lastMs, "o", text);
    }
  }
}

/** An event may come a prompt later than what it tells of. */
function placeOf({ payload, cursor }: StoredEvent, end: number): number {
  return typeof payload["cursor"] === "number" ? payload["cursor"] : (cursor ?? end);
}

function markOf(event: StoredEvent, size: Size): { readonly code: "r" | "m" | "x"; readonly data: string } | undefined {
  const { type, payload, cursor } = event;
  if (type === "status") {
    const { status, exitCode } = payload;
    return status === "closed" && typeof exitCode === "number" ? { code: "x", data: String(exitCode) } : undefined;
  }
  if (cursor === undefined) return undefined;
  if (type === "resize") {
    const { cols, rows } = payload as Partial<Size>;
    if (cols === undefined || rows === undefined || (cols === size.cols && rows === size.rows)) return undefined;
    return { code: "r", data: `${cols}x${rows}` };
  }
  const data = type === "control_handoff" ? driverText(event) : blockText(event);
  return data === undefined ? undefined : { code: "m", data };
}

function blockText({ type, payload }: StoredEvent): string {
  const { cmd, exitCode, signal } = payload;
  if (type === "agent_block_begin") return `$ ${typeof cmd === "string" ? cmd : ""}`;
  return typeof exitCode === "number"
    ? `exit ${exitCode}`
    : `ended${typeof signal === "string" ? ` by ${signal}` : ""}`;
}

function driverText({ payload }: StoredEvent): string | undefined {
  const state = recorded(payload);
  if (state === undefined) return undefined;
  const { holder, mode, reason } = state;
  const who = holder === null ? (mode === "AGENT" ? "the first agent that acts" : "nobody") : holder.id;
  return `control: ${who}${reason === null ? "" : ` (${reason})`}`;
}
