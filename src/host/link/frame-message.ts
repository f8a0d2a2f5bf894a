/** A frame as it goes over the link. Encoded once: a resumed link repeats the same bytes. */
import type { SessionFrame } from "../../domain/session-frame.ts";
import { BODY_MAX, encodeHead, HEADER_MAX, type HostMessage } from "../../protocol/link.ts";

const NO_BODY = new Uint8Array(0);

/** Head and body. An event that is too large for a message keeps its place without its payload. */
export function frameMessage(sessionId: string, frame: SessionFrame): readonly Uint8Array[] {
  const body = frame.kind === "bytes" ? frame.bytes : NO_BODY;
  if (body.length > BODY_MAX) throw new Error(`a frame of ${body.length} bytes is too large`);
  const header = headerOf(sessionId, frame);
  let head = encodeHead(header, body.length);
  if (head.length - 8 > HEADER_MAX && header.type === "SESSION_EVENT") {
    head = encodeHead({ ...header, payload: { omittedBytes: head.length } }, 0);
  }
  return body.length === 0 ? [head] : [head, body];
}

function headerOf(sessionId: string, frame: SessionFrame): HostMessage {
  const placed = { session_id: sessionId, order: frame.order, cursor: frame.cursor };
  switch (frame.kind) {
    case "bytes":
      return { type: "INTERACTIVE_OUTPUT", ...placed };
    case "event":
      return {
        type: "SESSION_EVENT",
        ...placed,
        at: frame.at,
        event: frame.type,
        payload: frame.payload,
        ...(frame.by === undefined ? {} : { by: frame.by }),
      };
    case "exit":
      return {
        type: frame.plain === true ? "COMMAND_RESULT" : "INTERACTIVE_CMD_DONE",
        ...placed,
        at: frame.at,
        reason: frame.reason,
        ...(frame.exitCode === undefined ? {} : { exit_code: frame.exitCode }),
        ...(frame.signal === undefined ? {} : { signal: frame.signal }),
      };
  }
}
