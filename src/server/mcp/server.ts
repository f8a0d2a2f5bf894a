/**
 * The MCP server for one caller. It holds no state between calls and decides nothing: it checks the arguments
 * against the schema that it advertises and hands them to `call`. Rules in docs/spec/mcp.md.
 */
import { randomUUID } from "node:crypto";
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Role } from "../../domain/actor.ts";
import { AppError } from "../../protocol/errors.ts";
import { type CallName, operation } from "../../protocol/operations.ts";
import { parseWith } from "../../protocol/parse.ts";
import { answerOf, failureOf } from "./answers.ts";
import { instructionsFor } from "./instructions.ts";
import { type McpTool, toolsFor } from "./tools.ts";

/** Runs one operation on unparsed input. Throws `AppError` for what the caller can act on. */
export type ToolCall = (
  name: CallName,
  input: unknown,
  context: { readonly signal: AbortSignal; readonly idempotencyKey?: string | undefined },
) => Promise<unknown>;

/** Told of each error that is not an `AppError`; the caller sees only the id. */
export type OnFault = (fault: { readonly id: string; readonly error: unknown }) => void;

export type McpServerOptions = {
  readonly version: string;
  readonly role: Role;
  readonly call: ToolCall;
  readonly onFault: OnFault;
  /** Between two words of progress. */
  readonly progressMs?: number | undefined;
};

/** Where a client may put what HTTP calls `Idempotency-Key`. */
export const IDEMPOTENCY_META_KEY = "sidestick/idempotencyKey";

/** The tools change only with the version and the role, so a client may keep them for a while, but for itself alone. */
const CACHE_HINT = { ttlMs: 300_000, cacheScope: "private" } as const;

const PROGRESS_MS = 2_000;

export function buildMcpServer(options: McpServerOptions): Server {
  const tools = toolsFor(options.role);
  const server = new Server(
    { name: "sidestick", title: "Sidestick", version: options.version },
    {
      capabilities: { tools: {} },
      instructions: instructionsFor(tools),
      cacheHints: { "tools/list": CACHE_HINT, "server/discover": CACHE_HINT },
      inputRequired: { legacyShim: false },
      requestState: { verify: refuseState },
    },
  );
  server.setRequestHandler("tools/list", () => ({ tools: [...tools.values()].map((tool) => tool.definition) }));
  server.setRequestHandler("tools/call", (request, context) => {
    const tool = tools.get(request.params.name);
    // The same for a tool that is not and one that is not for this role.
    if (tool === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No such tool: ${request.params.name}`);
    return callTool(options, tool, request.params.arguments ?? {}, context.mcpReq);
  });
  return server;
}

async function callTool(
  { call, onFault, progressMs = PROGRESS_MS }: McpServerOptions,
  tool: McpTool,
  input: unknown,
  { signal, _meta: meta, notify }: ServerContext["mcpReq"],
): Promise<CallToolResult> {
  const token = meta?.progressToken;
  using _progress = token === undefined ? undefined : tellProgress(token, progressMs, notify);
  try {
    parseWith(tool.input, input);
    const asked = { ...operation(tool.operation).toolDefaults, ...(input as object) };
    const value = await call(tool.operation, asked, { signal, idempotencyKey: idempotencyKeyOf(meta) });
    return answerOf(tool, value);
  } catch (error) {
    // Cancelled: nobody hears an answer, and the abort that `call` throws is no fault.
    if (signal.aborted) throw error;
    return failureOf(error instanceof AppError ? error : faultOf(error, onFault));
  }
}

/** A call that waits says so now and then: clients that ask for progress give up on silence, not on time. */
function tellProgress(
  progressToken: string | number,
  everyMs: number,
  notify: ServerContext["mcpReq"]["notify"],
): { [Symbol.dispose](): void } {
  const startedAt = performance.now();
  const timer = setInterval(() => {
    // It has to grow from word to word.
    const progress = (performance.now() - startedAt) / 1000;
    const params = { progressToken, progress, message: `still waiting after ${Math.round(progress)} s` };
    notify({ method: "notifications/progress", params }).catch(() => undefined);
  }, everyMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function idempotencyKeyOf(meta: Record<string, unknown> | undefined): string | undefined {
  const key = meta?.[IDEMPOTENCY_META_KEY];
  if (key === undefined || typeof key === "string") return key;
  throw new AppError("invalid_request", { detail: `_meta ${IDEMPOTENCY_META_KEY} must be a string` });
}

function faultOf(error: unknown, onFault: OnFault): AppError {
  const id = randomUUID();
  onFault({ id, error });
  return new AppError("internal", { id }, { cause: error });
}

/** We never hand out a state, so whatever comes back as one was made by somebody else. */
function refuseState(): never {
  throw new Error("no request state is ever issued");
}
