/**
 * Makes the one order of a session: bytes and events become frames, numbered densely, bytes always before the event
 * that follows them. A piece that comes alone leaves in its own turn; small ones that follow one another are gathered.
 * Rules PTY-12..PTY-14 in docs/spec/terminal.md.
 */
import type { Actor } from "../../domain/actor.ts";
import type { EventType, JsonObject } from "../../domain/event.ts";
import type { SessionFrame } from "../../domain/session-frame.ts";
import type { PtyExit } from "./pty.ts";

export class Frames {
  readonly #emit: (frame: SessionFrame) => void;
  #parts: Uint8Array[] = [];
  #size = 0;
  #order = 0;
  #sent = 0;
  #sizeSeen = 0;
  #firstAt = 0;
  #leftAt = 0;
  #immediate: NodeJS.Immediate | undefined;
  #ended = false;

  constructor(emit: (frame: SessionFrame) => void) {
    this.#emit = emit;
  }

  /** Number of the last frame. */
  get order(): number {
    return this.#order;
  }

  /** Offset after the last byte, sent or gathered. */
  get cursor(): number {
    return this.#sent + this.#size;
  }

  bytes(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; from += FRAME_MAX) this.#gather(bytes.subarray(from, from + FRAME_MAX));
  }

  /** Answers its order. */
  event(type: EventType, payload: JsonObject, by?: Actor): number {
    if (this.#ended) return this.#order;
    this.flush();
    const frame = { kind: "event", order: this.#place(), cursor: this.#sent, at: Date.now(), type, payload } as const;
    this.#emit(by === undefined ? frame : { ...frame, by });
    return frame.order;
  }

  exit(reason: string, exit: PtyExit & { readonly plain?: boolean }): void {
    if (this.#ended) return;
    this.flush();
    this.#ended = true;
    this.#emit({ kind: "exit", order: this.#place(), cursor: this.#sent, at: Date.now(), reason, ...exit });
  }

  flush(): void {
    clearImmediate(this.#immediate);
    this.#immediate = undefined;
    if (this.#size === 0) return;
    const [only, second] = this.#parts;
    const bytes = only !== undefined && second === undefined ? only : Buffer.concat(this.#parts, this.#size);
    const cursor = this.#sent;
    this.#parts = [];
    this.#size = 0;
    this.#sizeSeen = 0;
    this.#leftAt = performance.now();
    this.#sent += bytes.length;
    this.#emit({ kind: "bytes", order: this.#place(), cursor, bytes });
  }

  #place(): number {
    this.#order += 1;
    return this.#order;
  }

  #gather(part: Uint8Array): void {
    if (this.#size + part.length > FRAME_MAX) this.flush();
    const isFirst = this.#size === 0;
    this.#parts.push(part);
    this.#size += part.length;
    if (!isFirst) return;
    this.#firstAt = performance.now();
    const isAlone = this.#firstAt - this.#leftAt >= GATHER_MS;
    if (isAlone || part.length >= FRAME_MAX / 2) queueMicrotask(() => this.flush());
    else this.#immediate = setImmediate(() => this.#look());
  }

  #look(): void {
    this.#immediate = undefined;
    const grew = this.#size > this.#sizeSeen;
    this.#sizeSeen = this.#size;
    if (!grew || performance.now() - this.#firstAt >= GATHER_MS) return this.flush();
    this.#immediate = setImmediate(() => this.#look());
  }
}

const FRAME_MAX = 65_536;
const GATHER_MS = 2;
