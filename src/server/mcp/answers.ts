/** Results of tools: a line for people, the whole answer as text for old clients, and as structured content. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { type AppError, problemOf } from "../../protocol/errors.ts";
import { ADVICE } from "./advice.ts";
import type { McpTool } from "./tools.ts";

export function answerOf(tool: McpTool, value: unknown): CallToolResult {
  const { name } = tool.definition;
  if (!tool.isList) return result(`${name}: done.`, value as Record<string, unknown>);
  const items = value as readonly unknown[];
  return result(`${name}: ${items.length} ${items.length === 1 ? "item" : "items"}.`, { items });
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
