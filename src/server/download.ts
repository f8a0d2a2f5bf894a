/** A file that is made while it is read: a reader's pace is the maker's, and a reader who is gone ends it. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { ExportFormat } from "../protocol/history.ts";
import { DEAD_AFTER_MS } from "../protocol/stream.ts";

const FILES: Readonly<Record<ExportFormat, { readonly type: string; readonly ending: string }>> = {
  asciicast: { type: "application/x-asciicast", ending: "cast" },
  jsonl: { type: "application/jsonl; charset=utf-8", ending: "jsonl" },
};

export type Download = {
  readonly sessionId: string;
  readonly format: ExportFormat;
  readonly pieces: AsyncGenerator<string>;
};

export async function sendDownload(
  response: ServerResponse,
  { sessionId, format, pieces }: Download,
  signal: AbortSignal,
): Promise<void> {
  // Until there is something to send, a failure is still an answer.
  let piece = await pieces.next();
  const { type, ending } = FILES[format];
  response.writeHead(200, {
    "content-type": type,
    "content-disposition": `attachment; filename="${sessionId}.${ending}"`,
    "cache-control": "no-store",
  });
  try {
    for (; piece.done !== true && !signal.aborted; piece = await pieces.next()) {
      if (response.write(piece.value)) continue;
      await once(response, "drain", { signal: AbortSignal.any([signal, AbortSignal.timeout(DEAD_AFTER_MS)]) });
    }
    if (signal.aborted) response.destroy();
    else response.end();
  } catch (error) {
    // Half a file must not look like a whole one.
    response.destroy();
    if ((error as Error).name !== "AbortError") throw error;
  } finally {
    await pieces.return(undefined);
  }
}
