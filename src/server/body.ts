/** Reads a request's body, strictly and within a limit. */
import type { IncomingMessage } from "node:http";
import { parseStrictJson, StrictJsonError } from "../lib/strict-json.ts";
import { AppError } from "../protocol/errors.ts";
import { invalidRequest } from "../protocol/parse.ts";

/** Undefined for an empty body. */
export async function readJson(request: IncomingMessage, limit: number): Promise<unknown> {
  const bytes = await readBytes(request, limit);
  if (bytes.length === 0) return undefined;
  // A page of another origin may post text/plain without asking first; JSON makes the browser ask.
  if (!/^application\/json *(;|$)/i.test(request.headers["content-type"] ?? "")) {
    throw invalidRequest("", "The body must be sent as Content-Type: application/json");
  }
  try {
    return parseStrictJson(bytes);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    throw invalidRequest("", `The body is refused: ${error.message}`, { cause: error });
  }
}

/** The fields of a form without files. */
export async function readForm(request: IncomingMessage, limit: number): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded *(;|$)/i.test(request.headers["content-type"] ?? "")) {
    throw invalidRequest("", "The body must be sent as a form");
  }
  return new URLSearchParams((await readBytes(request, limit)).toString());
}

async function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > limit) throw tooLarge(limit);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) throw tooLarge(limit);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    // Whoever hung up doesn't hear this; it must only not count as a fault of ours.
    throw invalidRequest("", "The body broke off", { cause: error });
  }
  return Buffer.concat(chunks);
}

function tooLarge(limit: number): AppError {
  return new AppError("too_large", { limit, detail: `A body may have at most ${limit} bytes` });
}
