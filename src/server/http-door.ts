/**
 * HTTP: the operations of the table under their paths, server-sent events, MCP, pages and probes. Every request
 * passes the address check and, but for the few public pages, authentication. Rules in docs/spec/http.md.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { EventLog } from "../hub/ports.ts";
import type { Recordings } from "../hub/recording.ts";
import { AppError } from "../protocol/errors.ts";
import { Sequence } from "../protocol/common.ts";
import { INPUT_BODY_LIMIT, pathKeys } from "../protocol/operation.ts";
import type { CallName, ParsedInput } from "../protocol/operations.ts";
import { invalidRequest, parseInput } from "../protocol/parse.ts";
import type { Authenticator, Connection } from "./authenticate.ts";
import { readJson } from "./body.ts";
import type { Caller } from "./caller.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { sendDownload } from "./download.ts";
import { visibleFilter } from "./operations/events.ts";
import { sendJson, sendProblem, setSafeHeaders } from "./responses.ts";
import { rawValues } from "./origin.ts";
import { findRoute, inputFromQuery, type Route } from "./routes.ts";
import { streamEvents } from "./sse.ts";
import type { StreamLimit } from "./stream-limit.ts";

/** Answers a request outside the operation table; false if it isn't for it. */
export type PublicDoor = (request: IncomingMessage, response: ServerResponse, url: URL) => boolean | Promise<boolean>;

export type McpDoor = (
  request: IncomingMessage,
  response: ServerResponse,
  caller: Caller,
  body: unknown,
) => Promise<void>;

export type HttpDoorParts = {
  readonly authenticator: Authenticator;
  readonly dispatcher: Dispatcher;
  readonly log: EventLog;
  readonly recordings: Recordings;
  readonly mcp: McpDoor;
  readonly publicDoors: readonly PublicDoor[];
  readonly streams: StreamLimit;
  /** Aborted when the hub goes down. */
  readonly hubEnds: AbortSignal;
};

export class HttpDoor {
  readonly #parts: HttpDoorParts;

  constructor(parts: HttpDoorParts) {
    this.#parts = parts;
  }

  async serve(request: IncomingMessage, response: ServerResponse, connection: Connection): Promise<void> {
    if (this.#parts.hubEnds.aborted) {
      // On its way down the hub starts nothing new; whoever reconnects over a kept connection finds it gone.
      request.socket.destroy();
      return;
    }
    setSafeHeaders(response);
    try {
      await this.#route(request, response, connection);
    } catch (error) {
      const known = this.#parts.dispatcher.explain(error, `${request.method} ${placeOf(request.url)}`);
      sendProblem(response, known);
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse, connection: Connection): Promise<void> {
    const { authenticator, mcp, publicDoors } = this.#parts;
    authenticator.checkAddress(request, connection);
    const url = parseTarget(request.url);
    for (const door of publicDoors) if (await door(request, response, url)) return;

    const route = url.pathname === "/mcp" ? undefined : findRoute(request.method ?? "GET", url.pathname);
    const caller = authenticator.authenticate(request, connection);
    if (url.pathname === "/mcp")
      return mcp(
        request,
        response,
        caller,
        request.method === "POST" ? await readJson(request, INPUT_BODY_LIMIT) : undefined,
      );
    if (route === undefined) throw new AppError("not_found", { detail: `Nothing is at ${url.pathname.slice(0, 200)}` });
    if (route.operation.kind === "stream") return this.#stream(route, { request, response, url, caller });
    if (route.operation.kind === "download") return this.#download(route, { request, response, url, caller });
    return this.#call(route, { request, response, url, caller });
  }

  async #call(route: Route, exchange: Exchange): Promise<void> {
    const { request, response, caller } = exchange;
    this.#parts.dispatcher.admit(route.name, caller);
    const input = await readInput(route, exchange);
    const gone = new AbortController();
    // Not after the answer: nobody waits for it then, and an abort costs an error with its stack.
    response.once("close", () => response.writableFinished || gone.abort());
    const answer = await this.#parts.dispatcher.call(route.name as CallName, input, {
      caller,
      signal: gone.signal,
      idempotencyKey: idempotencyKeyOf(request),
    });
    sendJson(response, route.operation.status, answer);
  }

  async #stream(route: Route, exchange: Exchange): Promise<void> {
    const { request, response, caller } = exchange;
    const op = this.#parts.dispatcher.admit(route.name, caller);
    const input = parseInput(op, await readInput(route, exchange)) as ParsedInput<"event.stream">;
    const filter = visibleFilter(input, caller);
    const signal = this.#whileOpen(exchange);
    await streamEvents(this.#parts.log, { ...filter, after: lastEventId(request) ?? input.after }, response, signal);
  }

  async #download(route: Route, exchange: Exchange): Promise<void> {
    const op = this.#parts.dispatcher.admit(route.name, exchange.caller);
    const input = parseInput(op, await readInput(route, exchange)) as ParsedInput<"session.export">;
    const { sessionId, format } = input;
    const pieces = this.#parts.recordings.of(sessionId, format);
    await sendDownload(exchange.response, { sessionId, format, pieces }, this.#whileOpen(exchange));
  }

  /** Counts as a stream of its caller; aborted when either side is gone. */
  #whileOpen({ response, caller }: Exchange): AbortSignal {
    const { streams, hubEnds } = this.#parts;
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    streams.check(caller);
    response.once("close", streams.take(caller));
    return AbortSignal.any([gone.signal, caller.revoked, hubEnds]);
  }
}

type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly caller: Caller;
};

/** For our log: a link to supply a secret is one itself. */
function placeOf(target = ""): string {
  return (target.split("?")[0] ?? "").replace(/^\/+secret\/.*/s, "/secret/…");
}

function parseTarget(target: string | undefined): URL {
  if (target === undefined || !target.startsWith("/") || !URL.canParse(target, "http://hub")) {
    throw invalidRequest("", "The request target must be a path");
  }
  // A path beginning with // would be taken for a host.
  return new URL(`http://hub${target.replace(/^\/+/, "/")}`);
}

async function readInput(route: Route, { request, url }: Exchange): Promise<unknown> {
  const { operation: op, parameters } = route;
  if (op.method === "GET" || op.method === "DELETE") return { ...inputFromQuery(op, url.searchParams), ...parameters };
  if (url.search !== "") throw invalidRequest("", `${op.method} takes its input as a JSON body`);
  const given = await readJson(request, op.bodyLimit);
  const body = given === undefined ? {} : given;
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw invalidRequest("", "The body must be a JSON object");
  }
  const twice = pathKeys(op.path).find((key) => Object.hasOwn(body, key));
  if (twice !== undefined) throw invalidRequest(twice, `${twice} belongs in the path only`);
  return { ...body, ...parameters };
}

function idempotencyKeyOf(request: IncomingMessage): string | undefined {
  const keys = rawValues(request, "idempotency-key");
  if (keys.length > 1) throw invalidRequest("Idempotency-Key", "Give one Idempotency-Key");
  return keys[0];
}

function lastEventId(request: IncomingMessage): number | undefined {
  const value = request.headers["last-event-id"];
  if (value === undefined || value === "") return undefined;
  const parsed = Sequence.safeParse(/^\d{1,16}$/.test(String(value)) ? Number(value) : undefined);
  if (!parsed.success) throw invalidRequest("Last-Event-ID", "Last-Event-ID must be a sequence number");
  return parsed.data;
}
