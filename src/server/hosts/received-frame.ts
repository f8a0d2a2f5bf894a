/** A frame as it comes over the link, made a frame of the domain again. */
import { EVENT_TYPES, type EventType } from "../../domain/event.ts";
import type { SessionFrame } from "../../domain/session-frame.ts";
import type { FrameMessage } from "./host-link.ts";

const KNOWN: ReadonlySet<string> = new Set(EVENT_TYPES);

export function receivedFrame(message: FrameMessage, body: Uint8Array): SessionFrame {
  const { order, cursor } = message;
  switch (message.type) {
    case "INTERACTIVE_OUTPUT":
      return { kind: "bytes", order, cursor, bytes: body };
    case "SESSION_EVENT":
      return { kind: "event", order, cursor, at: message.at, ...eventOf(message) };
    case "INTERACTIVE_CMD_DONE": {
      const { at, reason, exit_code: exitCode, signal } = message;
      const how = { ...(exitCode === undefined ? {} : { exitCode }), ...(signal === undefined ? {} : { signal }) };
      return { kind: "exit", order, cursor, at, reason, ...how };
    }
  }
}

/** What only a newer hub knows keeps its place and its content. */
function eventOf({ event, payload, by }: Extract<FrameMessage, { type: "SESSION_EVENT" }>) {
  const source = by === undefined ? {} : { by };
  if (KNOWN.has(event)) return { type: event as EventType, payload, ...source };
  return { type: "log_line" as const, payload: { event: "unknown_event", type: event, payload }, ...source };
}
