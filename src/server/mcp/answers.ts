/** Results of tools: a line for people, the whole answer as text for old clients, and as structured content. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { type AppError, problemOf } from "../../protocol/errors.ts";
import { ADVICE } from "./advice.ts";
import type { McpTool } from "./tools.ts";

export function answerOf(tool: McpTool, value: unknown): CallToolResult {
  const { name } = tool.definition;
  if (!tool.isList) {
    const answer = value as Record<string, unknown>;
    return result(`${name}: ${stateOf(answer)}`, answer);
  }
  const items = value as readonly unknown[];
  return result(`${name}: ${items.length} ${items.length === 1 ? "item" : "items"}.`, { items });
}

/** What the answer means for the next step; a model reads the first line best. */
function stateOf({ waiting, pending, matched, reason, exit_code: code, signal }: Record<string, unknown>): string {
  const { kind, program } = (waiting ?? {}) as { kind?: string; program?: string };
  if (waiting !== undefined) return `${program} waits for input (${kind}).`;
  if (matched === false) return `not matched (${String(reason)}); go on from \`cursor\` and \`position\`.`;
  if (pending === true) return "still running; go on with pty_wait_for.";
  if (typeof code === "number") return `exit code ${code}.`;
  if (typeof signal === "string") return `ended by ${signal}.`;
  return matched === true ? "matched." : "done.";
}

export function failureOf(error: AppError): CallToolResult {
  const problem = problemOf(error);
  return { ...result(`${problem.code}: ${sentence(problem.detail)} ${ADVICE[error.code]}`, problem), isError: true };
}

function result(line: string, structuredContent: Record<string, unknown>): CallToolResult {
  return { content: [text(line), text(JSON.stringify(structuredContent))], structuredContent };
}

function text(value: string): { type: "text"; text: string } {
  return { type: "text", text: value };
}

function sentence(detail: string): string {
  return /[.!?]$/.test(detail) ? detail : `${detail}.`;
}
