/**
 * Writes docs/reference from the operation table, the error table, the event types and the frames of the WebSocket, so
 * that the reference can't tell anything else than the code does. Rule HSE-13 in docs/spec/house.md.
 *
 *   node tools/reference.ts            writes the files
 *   node tools/reference.ts --check    fails when a file on disk is not what it would write
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { ApprovalRequest } from "../src/protocol/approvals.ts";
import { Token } from "../src/protocol/credentials.ts";
import { ERRORS } from "../src/protocol/errors.ts";
import type { ErrorCode } from "../src/protocol/errors.ts";
import { WorkspaceEvent, WorkspaceSnapshot } from "../src/protocol/events.ts";
import { COMMON_ERRORS, pathKeys } from "../src/protocol/operation.ts";
import type { Operation } from "../src/protocol/operation.ts";
import { operation, operationNames, toolName } from "../src/protocol/operations.ts";
import type { OperationName } from "../src/protocol/operations.ts";
import { policySchema } from "../src/protocol/policy-file.ts";
import { WorkspaceSession } from "../src/protocol/sessions.ts";
import { Workspace } from "../src/protocol/workspaces.ts";
import { typeText } from "./json-schema-text.ts";
import { eventsPage } from "./reference-events.ts";
import { anchor, fieldTable, MADE, page, schemaOf, table } from "./reference-page.ts";
import { streamPage } from "./reference-stream.ts";
import { isMain, report, ROOT } from "./source-files.ts";

const DIRECTORY = "docs/reference";
const SHAPES = { WorkspaceSession, WorkspaceEvent, WorkspaceSnapshot, ApprovalRequest, Workspace, Token };

/** Name and content of every file. */
export function referenceFiles(): Readonly<Record<string, string>> {
  return {
    "operations.md": operationsPage(),
    "shapes.md": shapesPage(),
    "errors.md": errorsPage(),
    "events.md": eventsPage(),
    "stream.md": streamPage(),
    "policy.schema.json": `${JSON.stringify(policySchema(), undefined, 2)}\n`,
  };
}

export function referenceOffences(root: string): string[] {
  return Object.entries(referenceFiles()).flatMap(([name, content]) => {
    const path = `${DIRECTORY}/${name}`;
    const there = existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined;
    return there === content ? [] : [`${path} is not up to date: npm run reference`];
  });
}

function operationsPage(): string {
  return page([
    "# Operations",
    MADE,
    "Every operation, as HTTP request, SDK call and, where it says so, MCP tool. A field is part of the path where the " +
      "path names it; other fields are the query of a GET and the JSON body of everything else. In a URL the " +
      "values of a list are separated by commas: `GET /events?types=status,approval_request`.",
    `Beyond its own errors every operation may answer ${codes(COMMON_ERRORS)}. See [errors](errors.md).`,
    table(
      ["operation", "HTTP", "MCP tool", "roles", "effect"],
      operationNames.map((name) => {
        const it = operation(name);
        const tool = it.tool ? `\`${toolName(name)}\`` : "";
        return [`[${name}](#${anchor(name)})`, http(it), tool, it.roles.join(", "), it.effect];
      }),
    ),
    ...operationNames.flatMap(operationSection),
  ]);
}

function operationSection(name: OperationName): string[] {
  const it = operation(name);
  const input = schemaOf(it.input, "input");
  return [
    `## ${name}`,
    it.summary,
    [
      `- HTTP: ${http(it)}, answers ${answerText(it)}`,
      `- MCP tool: ${it.tool ? `\`${toolName(name)}\`` : "none"}`,
      `- Roles: ${it.roles.join(", ")}`,
      `- Effect: ${it.effect}`,
      `- \`Idempotency-Key\`: ${idempotencyText(it)}`,
      `- Time: ${timeText(it)}`,
      `- Errors: ${it.errors.length === 0 ? "only the common ones" : codes(it.errors)}`,
    ].join("\n"),
    Object.keys(input.properties ?? {}).length === 0
      ? "Input: none."
      : `Input:\n\n${fieldTable(input, { needed: "required", inPath: pathKeys(it.path) })}`,
    outputText(it),
  ];
}

function answerText({ kind, status }: Operation): string {
  if (kind === "stream") return "a stream of server-sent events";
  return kind === "download" ? `${status} with a file` : String(status);
}

function idempotencyText({ idempotency, effect }: Operation): string {
  return idempotency === "none" && effect !== "read" ? "not taken: each call counts" : IDEMPOTENCY[idempotency];
}

const IDEMPOTENCY: Readonly<Record<Operation["idempotency"], string>> = {
  none: "not needed",
  stored: "the same answer again, also after a restart",
  memory: "the same answer again until the hub restarts; the answer holds a secret and is not stored",
};

function timeText({ kind, budgetMs, cancellation }: Operation): string {
  const leaving = cancellation === "abort" ? "ends with its caller" : "is finished even if its caller leaves";
  return kind !== "call" ? "until one side ends it" : `at most ${budgetMs / 1000} s; ${leaving}`;
}

function outputText({ kind, output }: Operation): string {
  const heading = kind === "stream" ? "Each event" : "Output";
  const list = output instanceof z.ZodArray;
  const shape = Object.entries(SHAPES).find(([, it]) => it === (list ? output.element : output))?.[0];
  if (shape !== undefined) return `${heading}: ${list ? "list of " : ""}[${shape}](shapes.md#${anchor(shape)}).`;
  const schema = schemaOf(output, "output");
  return schema.properties === undefined
    ? `${heading}: ${typeText(schema)}.`
    : `${heading}:\n\n${fieldTable(schema, { needed: "always" })}`;
}

function shapesPage(): string {
  return page([
    "# Shapes",
    MADE,
    "What several [operations](operations.md) answer.",
    ...Object.entries(SHAPES).flatMap(([name, shape]) => [
      `## ${name}`,
      fieldTable(schemaOf(shape, "output"), { needed: "always" }),
    ]),
  ]);
}

function errorsPage(): string {
  const rows = (Object.keys(ERRORS) as ErrorCode[]).map((code) => {
    const users = operationNames.filter((name) => operation(name).errors.includes(code)).map((name) => `\`${name}\``);
    const common = (COMMON_ERRORS as readonly ErrorCode[]).includes(code);
    const { http: status, rpc, message } = ERRORS[code];
    return [`\`${code}\``, String(status), String(rpc), message, common ? "every operation" : users.join(", ")];
  });
  return page([
    "# Errors",
    MADE,
    "A failure is a problem detail (RFC 9457, `application/problem+json`) with `type`, `title`, `status`, `code`, " +
      "`detail` and fields of its code. `code` is the same over WebSocket, MCP and in the SDK. `type` is " +
      "`urn:sidestick:error:<code>`.",
    table(["code", "HTTP", "JSON-RPC", "meaning", "answered by"], rows),
  ]);
}

function http({ method, path }: Operation): string {
  return `\`${method} ${path}\``;
}

function codes(list: readonly ErrorCode[]): string {
  return list.map((code) => `\`${code}\``).join(", ");
}

if (isMain(import.meta.url)) {
  if (process.argv.includes("--check")) report("reference", referenceOffences(ROOT));
  else {
    mkdirSync(join(ROOT, DIRECTORY), { recursive: true });
    for (const [name, content] of Object.entries(referenceFiles())) writeFileSync(join(ROOT, DIRECTORY, name), content);
  }
}
