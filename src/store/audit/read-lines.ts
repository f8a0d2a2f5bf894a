/** Reads an audit file line by line. An end without a line end is torn or being written: it is no line yet. */
import { createReadStream } from "node:fs";
import { type FileHandle, open, watch } from "node:fs/promises";
import { dirname } from "node:path";

export async function* wholeLines(file: string | FileHandle, from = 0): AsyncGenerator<{ line: string; end: number }> {
  let held: Buffer = Buffer.alloc(0);
  let end = from;
  const stream =
    typeof file === "string"
      ? createReadStream(file, { start: from })
      : file.createReadStream({ start: from, autoClose: false });
  for await (const chunk of stream) {
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
  let file = await successorOf(undefined, path);
  let at = from;
  const changes = watch(dirname(path), { signal })[Symbol.asyncIterator]();
  try {
    for (;;) {
      // A watch begins when it is first asked: before the file is read, so that what comes meanwhile is an event.
      const change = changes.next();
      change.catch(() => undefined);
      for (let isNewest = false; !isNewest;) {
        // Looked for first: a file that was moved away is still read to its end.
        const next = await successorOf(file, path);
        if (file !== undefined) {
          if ((await file.stat()).size < at) at = 0;
          for await (const { line, end } of wholeLines(file, at)) {
            at = end;
            yield line;
          }
        }
        isNewest = next === undefined;
        if (next !== undefined) {
          await file?.close();
          [file, at] = [next, 0];
        }
      }
      if ((await change).done === true) return;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await file?.close();
  }
}

/** What stands at the path, unless it is this one or nothing does. */
async function successorOf(file: FileHandle | undefined, path: string): Promise<FileHandle | undefined> {
  const next = await open(path).catch(() => undefined);
  const [ours, there] = await Promise.all([file?.stat(), next?.stat()]);
  if (there === undefined || ours?.ino !== there.ino || ours.dev !== there.dev) return next;
  await next?.close();
  return undefined;
}
