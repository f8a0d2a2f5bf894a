/** A session as a file. Asked for by script: a link can't carry the page's key. Rule WEB-75. */
import type { SidestickClient } from "../../client/client.ts";
import type { ExportFormat } from "../../protocol/history.ts";

const ENDINGS = { asciicast: "cast", jsonl: "jsonl" } as const satisfies Record<ExportFormat, string>;

export async function download(client: SidestickClient, sessionId: string, format: ExportFormat): Promise<true> {
  const pieces = await client.export({ sessionId, format });
  // A response gathers it where the browser likes, not in this page.
  const file = await new Response(pieces as unknown as ReadableStream).blob();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = `${sessionId}.${ENDINGS[format]}`;
  link.click();
  // The browser has taken it over by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return true;
}
