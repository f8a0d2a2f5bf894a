/**
 * Where each session's kept screens stand in its output, and where its size changed: what is needed to draw the screen at any
 * cursor without going through all that came before. Read once for a session, then followed.
 */
import type { StoredEvent } from "../domain/event.ts";
import type { Size } from "../domain/session-frame.ts";
import { CursorExpired, type EventLog } from "./ports.ts";
import { keyframeCursor } from "./wait-screen.ts";

export type KeptScreen = Size & {
  readonly cursor: number;
  readonly data?: string;
  readonly resizes: [cursor: number, cols: number, rows: number][];
};

type Places = {
  readonly screens: { readonly cursor: number; readonly sequence: number }[];
  readonly resizes: [cursor: number, cols: number, rows: number][];
  last: number;
};

/** A screen has up to 64 KiB. */
const PAGE = 32;
const SESSIONS = 200;
const TYPES = ["keyframe", "resize"] as const;

export class KeptScreens {
  readonly #log: EventLog;
  readonly #places = new Map<string, Promise<Places>>();

  constructor(log: EventLog) {
    this.#log = log;
    log.observe((events) => {
      for (const event of events) if (event.type === "keyframe" || event.type === "resize") this.#note(event);
    });
  }

  /** The newest at or before `at`, but not before `oldest`, with the sizes up to `to`; undefined where there is none. */
  async before(
    sessionId: string,
    { at, to, oldest }: { readonly at: number; readonly to: number; readonly oldest: number },
  ): Promise<KeptScreen | undefined> {
    const { screens, resizes } = await this.#of(sessionId);
    const found = screens.findLast((it) => it.cursor <= at);
    if (found === undefined || found.cursor < oldest) return undefined;
    const event = await this.#read(sessionId, found.sequence);
    const { cols, rows, data } = (event?.payload ?? {}) as Partial<Size> & { readonly data?: string };
    if (cols === undefined || rows === undefined || data === undefined) return undefined;
    return { cursor: found.cursor, cols, rows, data, resizes: within(resizes, found.cursor, to) };
  }

  /** The first that stands at or after a cursor. */
  async firstFrom(sessionId: string, cursor: number): Promise<number | undefined> {
    const { screens } = await this.#of(sessionId);
    return screens.find((it) => it.cursor >= cursor)?.cursor;
  }

  /** The size at a cursor, and its changes from there on. */
  async sizeAt(
    sessionId: string,
    cursor: number,
    to: number,
  ): Promise<Omit<KeptScreen, "cursor" | "data"> | undefined> {
    const { resizes } = await this.#of(sessionId);
    const [, cols, rows] = resizes.findLast(([at]) => at <= cursor) ?? resizes[0] ?? [];
    if (cols === undefined || rows === undefined) return undefined;
    return { cols, rows, resizes: within(resizes, cursor + 1, to) };
  }

  #of(sessionId: string): Promise<Places> {
    let places = this.#places.get(sessionId);
    if (places === undefined) {
      if (this.#places.size >= SESSIONS) this.#places.clear();
      places = this.#load(sessionId);
      this.#places.set(sessionId, places);
      places.catch(() => this.#places.delete(sessionId));
    }
    return places;
  }

  #note(event: StoredEvent): void {
    this.#places.get(event.sessionId)?.then(
      (places) => fold(places, event),
      () => undefined, // read again by whoever asks next
    );
  }

  async #load(sessionId: string): Promise<Places> {
    const places: Places = { screens: [], resizes: [], last: 0 };
    let after: number | undefined;
    for (;;) {
      const page = await this.#log.read({ sessionId, types: TYPES, after, limit: PAGE });
      if (page.length === 0) return places;
      for (const event of page) fold(places, event);
      after = page.at(-1)!.sequence;
    }
  }

  async #read(sessionId: string, sequence: number): Promise<StoredEvent | undefined> {
    try {
      const [event] = await this.#log.read({ sessionId, types: ["keyframe"], after: sequence - 1, limit: 1 });
      return event?.sequence === sequence ? event : undefined;
    } catch (error) {
      if (!(error instanceof CursorExpired)) throw error;
      this.#places.delete(sessionId);
      return undefined;
    }
  }
}

function fold(places: Places, event: StoredEvent): void {
  if (event.sequence <= places.last) return;
  places.last = event.sequence;
  if (event.type === "keyframe") places.screens.push({ cursor: keyframeCursor(event), sequence: event.sequence });
  const { cols, rows } = event.payload as Partial<Size>;
  if (event.type !== "resize" || cols === undefined || rows === undefined) return;
  places.resizes.push([event.cursor ?? 0, cols, rows]);
}

function within(resizes: Places["resizes"], from: number, to: number): Places["resizes"] {
  return resizes.filter(([at]) => at >= from && at <= to);
}
