/** Reads an audit file line by line. An end without a line end is torn or being written: it is no line yet. */
import { createReadStream } from "node:fs";
import { stat, watch } from "node:fs/promises";
import { dirname } from "node:path";

export async function* wholeLines(path: string, from = 0): AsyncGenerator<{ line: string; end: number }> {
  let held: Buffer = Buffer.alloc(0);
  let end = from;
  for await (const chunk of createReadStream(path, { start: from })) {
    held = held.length === 0 ? (chunk as Buffer) : Buffer.concat([held, chunk as Buffer]);
    let begin = 0;
    for (let at = held.indexOf(10); at !== -1; at = held.indexOf(10, begin)) {
      const line = held.toString("utf8", begin, at);
      end += at + 1 - begin;
      begin = at + 1;
      yield { line, end };
    }
    held = held.subarray(begin);
  }
}

/** Lines as they are appended, from an offset on; a file that takes its place is read from its begin. */
export async function* followLines(path: string, from: number, signal: AbortSignal): AsyncGenerator<string> {
  let file = await inodeOf(path);
  let at = from;
  // Watched before it is read: what comes in between is an event that waits.
  const changes = watch(dirname(path), { signal })[Symbol.asyncIterator]();
  try {
    for (;;) {
      const now = await inodeOf(path);
      if (now?.ino !== file?.ino || (now?.size ?? 0) < at) at = 0;
      file = now;
      if (file !== undefined) {
        for await (const { line, end } of wholeLines(path, at)) {
          at = end;
          yield line;
        }
      }
      if ((await changes.next()).done === true) return;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function inodeOf(path: string): Promise<{ ino: number; size: number } | undefined> {
  return await stat(path).catch(() => undefined);
}
