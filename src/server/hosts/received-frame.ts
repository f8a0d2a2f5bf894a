/** A frame as it comes over the link, made a frame of the domain again. */
import { EVENT_TYPES, type EventType, type JsonObject } from "../../domain/event.ts";
import type { SessionFrame } from "../../domain/session-frame.ts";
import { isTold, TOLD_EVENTS } from "../../protocol/told-events.ts";
import type { FrameMessage } from "./host-link.ts";

const KNOWN: ReadonlySet<string> = new Set(EVENT_TYPES);

export function receivedFrame(message: FrameMessage, body: Uint8Array): SessionFrame {
  const { order, cursor } = message;
  switch (message.type) {
    case "INTERACTIVE_OUTPUT":
      return { kind: "bytes", order, cursor, bytes: body };
    case "SESSION_EVENT":
      return { kind: "event", order, cursor, at: message.at, ...eventOf(message) };
    case "INTERACTIVE_CMD_DONE":
    case "COMMAND_RESULT": {
      const { at, reason, exit_code: exitCode, signal } = message;
      const how = { ...(exitCode === undefined ? {} : { exitCode }), ...(signal === undefined ? {} : { signal }) };
      return { kind: "exit", order, cursor, at, reason, ...how };
    }
  }
}

/** What only a newer hub knows keeps its place and its content; what nobody could read its place alone. */
function eventOf({ event, payload, by }: Extract<FrameMessage, { type: "SESSION_EVENT" }>) {
  const source = by === undefined ? {} : { by };
  const asLine = (told: JsonObject) => ({ type: "log_line" as const, payload: { ...told, type: event }, ...source });
  if (!KNOWN.has(event)) return asLine({ event: "unknown_event", payload });
  // What is no host's to tell at all is for the check to find.
  const isReadable = !isTold(event) || isDecision(event) || TOLD_EVENTS[event].safeParse(payload).success;
  return isReadable ? { type: event as EventType, payload, ...source } : asLine({ event: "malformed_event" });
}

function isDecision(event: string): boolean {
  return event === "prompt_decision";
}
