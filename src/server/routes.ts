/** From method and path to an operation. Patterns come from the operation table. */
import { z } from "zod";
import { type HttpMethod, type Operation, pathKeys } from "../protocol/operation.ts";
import { operation, operationNames, type OperationName } from "../protocol/operations.ts";
import { AppError } from "../protocol/errors.ts";
import { invalidRequest } from "../protocol/parse.ts";

export type Route = {
  readonly name: OperationName;
  readonly operation: Operation;
  /** From the path; the rest of the input comes from the query or the body. */
  readonly parameters: Readonly<Record<string, string>>;
};

type Pattern = { readonly name: OperationName; readonly method: HttpMethod; readonly parts: readonly string[] };

const PATTERNS: readonly Pattern[] = operationNames.map((name) => {
  const { method, path } = operation(name);
  return { name, method, parts: path.split("/") };
});

/** Undefined when no operation has this path; throws when one has it under another method. */
export function findRoute(method: string, path: string): Route | undefined {
  const parts = path.split("/");
  const fitting = PATTERNS.filter((it) => fits(it.parts, parts));
  const found = fitting.find((it) => it.method === method) ?? undefined;
  if (found === undefined) {
    if (fitting.length === 0) return undefined;
    const allowed = fitting.map((it) => it.method);
    throw new AppError("not_found", { allowed, detail: `${path} takes ${allowed.join(", ")}, not ${method}` });
  }
  const parameters: Record<string, string> = {};
  for (const [at, part] of found.parts.entries()) {
    if (part.startsWith("{")) parameters[part.slice(1, -1)] = decode(parts[at] ?? "");
  }
  return { name: found.name, operation: operation(found.name), parameters };
}

/** Query strings hold only text; the schema says what each value should be. A repeated or empty name is refused. */
export function inputFromQuery(op: Operation, query: URLSearchParams): Record<string, unknown> {
  const types = queryTypes(op);
  const input: Record<string, unknown> = {};
  for (const [key, value] of query) {
    if (Object.hasOwn(input, key)) throw invalidRequest(key, `${key} stands twice in the query`);
    Object.defineProperty(input, key, { value: convert(types[key], value), enumerable: true });
  }
  return input;
}

function fits(pattern: readonly string[], parts: readonly string[]): boolean {
  return (
    pattern.length === parts.length &&
    pattern.every((part, at) => (part.startsWith("{") ? parts[at] !== "" : part === parts[at]))
  );
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    throw invalidRequest("", "The path is not valid percent-encoding", { cause: error });
  }
}

const typesByOperation = new WeakMap<Operation, Record<string, string>>();

function queryTypes(op: Operation): Record<string, string> {
  const known = typesByOperation.get(op);
  if (known !== undefined) return known;
  const schema = z.toJSONSchema(op.input, { io: "input", unrepresentable: "any" });
  const properties = Object.entries((schema.properties ?? {}) as Record<string, { type?: string }>);
  const inPath = pathKeys(op.path);
  const types = Object.fromEntries(
    properties.filter(([key]) => !inPath.includes(key)).map(([key, it]) => [key, it.type ?? ""]),
  );
  typesByOperation.set(op, types);
  return types;
}

function convert(type: string | undefined, value: string): unknown {
  if ((type === "integer" || type === "number") && /^-?\d{1,16}(\.\d+)?$/.test(value)) return Number(value);
  if (type === "boolean" && (value === "true" || value === "false")) return value === "true";
  if (type === "array") return value.split(",");
  return value;
}
