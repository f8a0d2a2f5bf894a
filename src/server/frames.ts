/** From the bytes of a WebSocket message to a frame, as strictly as any other JSON from strangers. */
import { parseStrictJsonText, StrictJsonError } from "../lib/strict-json.ts";
import { invalidRequest, parseWith } from "../protocol/parse.ts";
import { ClientFrame } from "../protocol/stream.ts";

export function parseFrame(data: Buffer, isBinary: boolean): ClientFrame {
  if (isBinary) throw invalidRequest("", "Clients send text frames only");
  try {
    return parseWith(ClientFrame, parseStrictJsonText(data.toString("utf8")));
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    throw invalidRequest("", `The frame is refused: ${error.message}`, { cause: error });
  }
}
