/**
 * What a host says of a session is believed only as far as it is the host's to say: its own event types, places that
 * follow one another, questions of its own sessions, and actors for whom the hub asked something (RML-20, RML-21 in docs/spec/remote-hosts.md).
 */
import type { Actor } from "../../domain/actor.ts";
import type { SessionFrame } from "../../domain/session-frame.ts";
import { isTold, TOLD_EVENTS } from "../../protocol/told-events.ts";

const ACTORS_MAX = 256;

type EventFrame = Extract<SessionFrame, { kind: "event" }>;
type Whose = { readonly hostId: string; readonly sessionId: string };
type CheckOptions = { readonly cursor?: number | undefined; readonly before?: FrameCheck | undefined };

export class FrameCheck {
  readonly #hostId: string;
  readonly #sessionId: string;
  readonly #actors: Set<string>;
  #end: number;
  #isExact = false;
  #errorsEnd = 0;

  /** `cursor`: of the first frame at most; absent: nobody knows. `before`: of the same session, whose actors it goes on with. */
  constructor({ hostId, sessionId }: Whose, { cursor = Number.POSITIVE_INFINITY, before }: CheckOptions = {}) {
    this.#hostId = hostId;
    this.#sessionId = sessionId;
    this.#end = cursor;
    this.#actors = before === undefined ? new Set(["system:gate", `host:${hostId}`]) : before.#actors;
  }

  /** The hub asks something for them, or the log says that it did. */
  acts({ kind, id }: Actor): void {
    if (this.#actors.size < ACTORS_MAX) this.#actors.add(`${kind}:${id}`);
  }

  /** What is wrong with it; undefined: nothing. */
  faultOf(frame: SessionFrame): string | undefined {
    const fault = frame.kind === "event" ? this.#faultOfEvent(frame) : undefined;
    if (fault !== undefined) return fault;
    if (frame.cursor > this.#end) return `a frame at ${frame.cursor}, beyond ${this.#end}`;
    if (frame.kind === "event" && frame.type === "stderr") return this.#faultOfErrors(frame);
    if (frame.kind !== "bytes") return undefined;
    if (this.#isExact && frame.cursor !== this.#end) return `bytes at ${frame.cursor} instead of ${this.#end}`;
    this.#isExact = true;
    this.#end = frame.cursor + frame.bytes.length;
    return undefined;
  }

  #faultOfEvent({ type, payload }: EventFrame): string | undefined {
    const isDecided = type === "prompt_decision" && !TOLD_EVENTS.prompt_decision.safeParse(payload).success;
    if (!isTold(type) || isDecided) return `an event of type ${type} is not a host's to tell`;
    if (type !== "prompt" && type !== "prompt_decision") return undefined;
    const { promptId } = payload;
    const isOwn = typeof promptId === "string" && promptId.startsWith(`${this.#sessionId}.`);
    return isOwn ? undefined : "a question of another session";
  }

  /** They are the last bytes that came, and no others' (RMC-12): whoever reads both streams trusts that. */
  #faultOfErrors({ cursor: end, payload }: EventFrame): string | undefined {
    const { cursor, length } = payload;
    const isPlace = Number.isSafeInteger(cursor) && Number.isSafeInteger(length) && Number(length) > 0;
    if (!isPlace || Number(cursor) < this.#errorsEnd || Number(cursor) + Number(length) !== end) {
      return `errors that are not the last bytes before ${end}`;
    }
    this.#errorsEnd = end;
    return undefined;
  }

  /** Under whose name it is kept: the host's own, where it names somebody for whom nothing was asked. */
  attributed(frame: SessionFrame): SessionFrame {
    if (frame.kind !== "event" || frame.by === undefined) return frame;
    const { by, ...rest } = frame;
    if (this.#actors.has(`${by.kind}:${by.id}`)) return frame;
    return { ...rest, by: { kind: "host", id: this.#hostId }, payload: { ...rest.payload, claimedBy: { ...by } } };
  }
}
