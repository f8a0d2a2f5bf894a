/** OpenAPI 3.1, read off the operation table. */
import { z } from "zod";
import { type ErrorCode, ERRORS } from "../protocol/errors.ts";
import { COMMON_ERRORS, type Operation, pathKeys } from "../protocol/operation.ts";
import { operation, operationNames } from "../protocol/operations.ts";

type Schema = Record<string, unknown> & { properties?: Record<string, unknown>; required?: string[] };

export function openApi(version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const name of operationNames) {
    const op = operation(name);
    paths[op.path] = { ...paths[op.path], [op.method.toLowerCase()]: describe(op) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Sidestick", version, description: "Live sessions that an AI agent and a person share." },
    security: [{ bearer: [] }, { cookie: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        cookie: {
          type: "apiKey",
          in: "cookie",
          name: "sidestick",
          description:
            "Set by /login; named after the hub's port. Counts only with the header sidestick-csrf and the key that /login answered",
        },
      },
      schemas: { Problem: PROBLEM },
    },
  };
}

const PROBLEM = {
  type: "object",
  required: ["type", "title", "status", "code", "detail"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    code: { type: "string", enum: Object.keys(ERRORS) },
    detail: { type: "string" },
  },
};

function describe(op: Operation): Record<string, unknown> {
  const input = jsonSchema(op.input, "input");
  const body = op.method === "POST" || op.method === "PUT";
  const inPath = pathKeys(op.path);
  const rest = Object.keys(input.properties ?? {}).filter((key) => !inPath.includes(key));
  return {
    operationId: op.name,
    summary: op.summary,
    "x-roles": op.roles,
    "x-effect": op.effect,
    "x-idempotency": op.idempotency,
    parameters: [
      ...inPath.map((key) => parameter(input, key, "path")),
      ...(body ? [] : rest.map((key) => parameter(input, key, "query"))),
      ...(op.idempotency === "none" ? [] : [IDEMPOTENCY_KEY]),
      ...(op.kind === "stream" ? [LAST_EVENT_ID] : []),
    ],
    ...(body && rest.length > 0 ? { requestBody: requestBody(input, inPath) } : {}),
    responses: responses(op),
  };
}

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  schema: { type: "string", maxLength: 200 },
  description: "The same key gives the same answer and never a second effect",
};

const LAST_EVENT_ID = {
  name: "Last-Event-ID",
  in: "header",
  schema: { type: "integer" },
  description: "Goes on after this event",
};

function parameter(input: Schema, key: string, where: "path" | "query"): Record<string, unknown> {
  const schema = (input.properties?.[key] ?? {}) as Schema;
  return {
    name: key,
    in: where,
    required: where === "path" || (input.required ?? []).includes(key),
    schema,
    // Lists are comma-separated in a URL.
    ...(schema.type === "array" ? { style: "form", explode: false } : {}),
  };
}

function requestBody(input: Schema, inPath: readonly string[]): Record<string, unknown> {
  const properties = Object.fromEntries(
    Object.entries(input.properties ?? {}).filter(([key]) => !inPath.includes(key)),
  );
  const required = (input.required ?? []).filter((key) => !inPath.includes(key));
  const schema = {
    type: "object",
    properties,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
  return { required: required.length > 0, content: { "application/json": { schema } } };
}

const MEDIA: Readonly<Record<Operation["kind"], string>> = {
  call: "application/json",
  stream: "text/event-stream",
  download: "application/octet-stream",
};

function responses(op: Operation): Record<string, unknown> {
  const media = MEDIA[op.kind];
  const failures = new Map<number, ErrorCode[]>();
  for (const code of [...COMMON_ERRORS, ...op.errors]) {
    failures.set(ERRORS[code].http, [...(failures.get(ERRORS[code].http) ?? []), code]);
  }
  return {
    [op.status]: { description: "Done", content: { [media]: { schema: jsonSchema(op.output, "output") } } },
    ...Object.fromEntries(
      [...failures].map(([status, codes]) => [
        status,
        {
          description: codes.join(", "),
          content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
        },
      ]),
    ),
  };
}

export function jsonSchema(schema: z.ZodType, io: "input" | "output"): Schema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" }) as Schema;
  return rest;
}
