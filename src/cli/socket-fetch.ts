/**
 * `fetch` through a unix socket, as far as the SDK uses it: nothing is buffered, the body streams, an abort ends the
 * request or the body. The URL's host is only a name in the Host header. CLI-7 in docs/spec/cli.md.
 */
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

// An import would load the client behind the module's WebSocket, in hosts and hubs too: a tenth of a start.
const { request: httpRequest } = process.getBuiltinModule("node:http");

export function socketFetch(socketPath: string): (url: string, init?: RequestInit) => Promise<Response> {
  return (url, init = {}) =>
    new Promise((resolve, reject) => {
      const { signal, body } = init;
      const { pathname, search, host } = new URL(url);
      const request = httpRequest({
        socketPath,
        path: pathname + search,
        method: init.method ?? "GET",
        headers: { ...Object.fromEntries(new Headers(init.headers)), host },
        // A connection of its own: a kept one would hold the process open.
        agent: false,
        ...(signal ? { signal } : {}),
      });
      request.once("response", (message) => resolve(toResponse(message)));
      // `fetch` rejects with the signal's reason; Node's request has an error of its own for it.
      request.on("error", (error) => reject(signal?.aborted === true ? (signal.reason as Error) : error));
      request.end(typeof body === "string" ? body : undefined);
    });
}

/** Statuses whose answers have no body; `Response` refuses one. */
const BODILESS = new Set([204, 205, 304]);

function toResponse(message: IncomingMessage): Response {
  const status = message.statusCode ?? 500;
  const headers = new Headers();
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  if (BODILESS.has(status)) {
    message.resume();
    return new Response(null, { status, headers });
  }
  return new Response(Readable.toWeb(message) as ReadableStream, { status, headers });
}
