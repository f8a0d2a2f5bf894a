/**
 * MCP over streamable HTTP, for 2026-07-28 and for the 2025 revisions. Each exchange has its own server, built for
 * the caller that the credential named; what a client says about itself decides nothing. Authentication, the checks
 * of Host and Origin and the strict parse of the body come before. Rules in docs/spec/mcp.md.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { AppError, problemOf } from "../../protocol/errors.ts";
import type { CallName } from "../../protocol/operations.ts";
import type { CallContext, Caller } from "../caller.ts";
import { RunningRequests } from "./running-requests.ts";
import { buildMcpServer, type OnFault } from "./server.ts";

export type McpHttpDoorOptions = {
  readonly version: string;
  /** Runs one operation on unparsed input. Throws `AppError` for what the caller can act on. */
  readonly call: (name: CallName, input: unknown, context: CallContext) => Promise<unknown>;
  readonly onFault: OnFault;
  readonly progressMs?: number | undefined;
};

/** `body` is the parsed body of a POST, undefined otherwise. Resolves when the response is over. */
export type McpHttpDoor = (req: IncomingMessage, res: ServerResponse, caller: Caller, body: unknown) => Promise<void>;

export function mcpHttpDoor(options: McpHttpDoorOptions): McpHttpDoor {
  const running = new RunningRequests();
  return async (req, res, caller, body) => {
    const exchange = new AbortController();
    const end = () => exchange.abort();
    if (caller.revoked.aborted) end();
    caller.revoked.addEventListener("abort", end, { once: true });
    const session = sessionOf(req, caller);
    running.cancelIfAsked(session, body);
    const forget = running.add(session, body, end);
    // A 2025 client cancels by a POST of its own; the id tells us which client's request it means.
    if (isInitialize(body)) res.setHeader("mcp-session-id", randomUUID());
    try {
      await toNodeHandler({ fetch: fetchFor(options, caller, exchange.signal) })(req, res, body);
    } finally {
      forget();
      caller.revoked.removeEventListener("abort", end);
    }
  };
}

type Fetch = ReturnType<typeof createMcpHandler>["fetch"];

function fetchFor({ call, ...options }: McpHttpDoorOptions, caller: Caller, ended: AbortSignal): Fetch {
  const handler = createMcpHandler(() =>
    buildMcpServer({
      ...options,
      role: caller.role,
      call: (name, input, context) => call(name, input, { caller, ...context }),
    }),
  );
  return async (request, given) => {
    if (caller.revoked.aborted) return revokedResponse();
    const signal = AbortSignal.any([request.signal, ended]);
    const response = await handler.fetch(new Request(request, { signal }), given);
    return caller.revoked.aborted ? revokedResponse() : response;
  };
}

function revokedResponse(): Response {
  const problem = problemOf(new AppError("unauthenticated", { detail: "The credential was revoked" }));
  const headers = { "content-type": "application/problem+json", "www-authenticate": 'Bearer realm="sidestick"' };
  return Response.json(problem, { status: problem.status, headers });
}

/** Names one client of one credential; possession of the id alone opens nothing. */
function sessionOf(req: IncomingMessage, caller: Caller): string | undefined {
  const id = req.headers["mcp-session-id"];
  return id === undefined ? undefined : JSON.stringify([caller.role, caller.actor.id, caller.tokenId, id]);
}

function isInitialize(body: unknown): boolean {
  return typeof body === "object" && body !== null && "method" in body && body.method === "initialize";
}
