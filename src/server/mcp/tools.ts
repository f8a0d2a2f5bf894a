/**
 * Operations as MCP tools. What a client sees of a tool is read from the operation table, once, when this module
 * loads: a server is built for every request and must not convert schemas each time. Rules in docs/spec/mcp.md.
 */
import type { Tool, ToolAnnotations } from "@modelcontextprotocol/server";
import { z } from "zod";
import { type Role, ROLES } from "../../domain/actor.ts";
import type { Operation } from "../../protocol/operation.ts";
import { type CallName, operation, type OperationName, operationNames, toolName } from "../../protocol/operations.ts";

export type McpTool = {
  readonly operation: CallName;
  /** As the table has it, but unknown keys are refused. */
  readonly input: z.ZodObject;
  /** A list is answered as `{items}`: structured content must be an object. */
  readonly isList: boolean;
  readonly definition: Tool;
};

export type McpTools = ReadonlyMap<string, McpTool>;

/** Part of every output schema, because 1.x clients hold structured content to the schema even when `isError` is set. */
const Failure = z
  .looseObject({ code: z.string(), detail: z.string() })
  .meta({ description: "With isError: why it was not done" });

const TOOLS: readonly McpTool[] = operationNames.filter(isTool).map(toolOf);

const TOOLS_BY_ROLE: ReadonlyMap<Role, McpTools> = new Map(ROLES.map((role) => [role, pick(role)]));

export function toolsFor(role: Role): McpTools {
  return TOOLS_BY_ROLE.get(role) ?? new Map();
}

function pick(role: Role): McpTools {
  const allowed = TOOLS.filter((tool) => operation(tool.operation).roles.includes(role));
  return new Map(allowed.map((tool) => [tool.definition.name, tool]));
}

function isTool(name: OperationName): name is CallName {
  return operation(name).tool !== false && operation(name).kind === "call";
}

function toolOf(name: CallName): McpTool {
  const { summary, effect, input, output, toolDefaults } = operation(name);
  const strict = withDefaults(input, toolDefaults).strict();
  const isList = output instanceof z.ZodArray;
  return {
    operation: name,
    input: strict,
    isList,
    definition: {
      name: toolName(name),
      description: summary,
      inputSchema: jsonSchema(strict, "input"),
      outputSchema: jsonSchema(z.union([isList ? z.object({ items: output }) : output, Failure]), "output"),
      annotations: annotations(effect),
    },
  };
}

function withDefaults(input: z.ZodObject, defaults: Operation["toolDefaults"]): z.ZodObject {
  const changed = Object.entries(defaults).map(([key, value]) => {
    const field = input.shape[key] as z.ZodType;
    return [key, field.meta() === undefined ? field.default(value) : field.default(value).meta(field.meta()!)];
  });
  return changed.length === 0 ? input : input.safeExtend(Object.fromEntries(changed));
}

function annotations(effect: Operation["effect"]): ToolAnnotations {
  const reads = effect === "read";
  return {
    readOnlyHint: reads,
    destructiveHint: effect === "destructive",
    idempotentHint: reads,
    // Reads answer from our own log; anything else can make a program in a session act on the world.
    openWorldHint: !reads,
  };
}

function jsonSchema(schema: z.ZodType, io: "input" | "output"): Tool["inputSchema"] {
  // No `$schema`: clients that validate with draft-07 alone refuse a dialect they can't load, and 2020-12 is the default.
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, override: ({ jsonSchema: part }) => shorten(part, io) });
  return { ...rest, type: "object" } as Tool["inputSchema"];
}

/** The list of tools is in the model's context on every turn, so what a schema says twice it says once. */
function shorten(part: z.core.JSONSchema.BaseSchema, io: "input" | "output"): void {
  if (part.format !== undefined) delete part.pattern;
  if (part.minimum === Number.MIN_SAFE_INTEGER) delete part.minimum;
  if (part.maximum === Number.MAX_SAFE_INTEGER) delete part.maximum;
  // A newer hub behind an older `sidestick mcp` may answer more fields than this table knows.
  if (io === "output" && part.additionalProperties === false) delete part.additionalProperties;
}
