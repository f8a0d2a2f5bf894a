/**
 * The log as server-sent events. Each reader pulls at its own pace: a slow one waits for itself alone, and a cursor
 * older than what is kept gets a `resync` event that says where it goes on. Rules STR-1..STR-3.
 */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { CursorExpired, type EventFilter, type EventLog } from "../hub/ports.ts";
import { aheadOf } from "./operations/events.ts";
import { DEAD_AFTER_MS, HEARTBEAT_MS } from "../protocol/stream.ts";

export type SseRequest = EventFilter & { readonly after: number | undefined };

export async function streamEvents(
  log: EventLog,
  wanted: SseRequest,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  response.write(": sidestick\n\n");
  const heartbeat = setInterval(() => {
    // Only into an empty buffer: a reader that is still busy with older data is not in need of a sign of life.
    if (response.writableLength === 0) response.write(": heartbeat\n\n");
  }, HEARTBEAT_MS);
  try {
    let after = aheadOf(log, wanted.after);
    if (after !== undefined && after !== wanted.after) await write(response, resync(after), signal);
    while (!signal.aborted) {
      after = await copyUntilExpired(log, { ...wanted, after }, response, signal);
      if (after === undefined) return;
      await write(response, resync(after), signal);
    }
  } finally {
    clearInterval(heartbeat);
    response.end();
    // A peer that doesn't read must not keep a revoked stream open.
    setTimeout(() => response.destroy(), 100).unref();
  }
}

function resync(after: number): string {
  return `event: resync\nid: ${after}\ndata: ${JSON.stringify({ after })}\n\n`;
}

/** Undefined when the stream is over, else the cursor from which it can go on. */
async function copyUntilExpired(
  log: EventLog,
  wanted: SseRequest,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    for await (const batch of log.subscribe(wanted, signal)) {
      // One by one: a whole batch as one text would be held for every reader that doesn't read.
      for (const event of batch) {
        if (signal.aborted) return undefined;
        await write(response, `id: ${event.sequence}\ndata: ${JSON.stringify(event)}\n\n`, signal);
      }
    }
    return undefined;
  } catch (error) {
    if (error instanceof CursorExpired) return error.oldest;
    throw error;
  }
}

async function write(response: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  if (response.write(text) || signal.aborted) return;
  const dead = AbortSignal.any([signal, AbortSignal.timeout(DEAD_AFTER_MS)]);
  try {
    await once(response, "drain", { signal: dead });
  } catch {
    // Nobody has read for too long, or nobody is there: the reader comes back with its Last-Event-ID.
    response.destroy();
  }
}
