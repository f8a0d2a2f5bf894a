/**
 * One session as the host's link sees it: it takes requests and gives frames. The session's gate makes the order;
 * the link only carries it.
 */
import type { JsonObject } from "../domain/event.ts";
import type { SessionFrame } from "../domain/session-frame.ts";
import type { HubMessage } from "../protocol/link.ts";

export type StartMessage = Extract<HubMessage, { type: "START_INTERACTIVE_CMD" }>;

export type SessionRequest = Exclude<
  Extract<HubMessage, { id: number; session_id: string }>,
  { type: "START_INTERACTIVE_CMD" | "ADOPT" }
>;

export type Reply = { readonly fields: JsonObject; readonly body?: Uint8Array };

export interface HostedSession {
  readonly sessionId: string;
  /** What all its processes descend from, its program first; none if it has ended. */
  readonly processIds?: readonly number[] | undefined;
  /** Throws an `AppError` to refuse. */
  handle(request: SessionRequest, body: Uint8Array): Promise<Reply>;
  /** Reads no more output until `resume`: the program blocks, nothing is dropped. */
  pause(): void;
  resume(): void;
}

/** `emit` takes frames in order and never fails; the `exit` frame is the last. */
export type OpenSession = (start: StartMessage, emit: (frame: SessionFrame) => void) => Promise<HostedSession>;
