/** From an operation and its input to an HTTP request: braces from the path first, the rest as query or body. */
import { AppError } from "../protocol/errors.ts";
import { pathKeys } from "../protocol/operation.ts";
import type { HttpMethod, Operation } from "../protocol/operation.ts";

export type HubRequest = {
  readonly method: HttpMethod;
  /** Path and query, to be put behind the hub's address. */
  readonly target: string;
  readonly body?: string;
};

export function requestFor(operation: Operation, input: object): HubRequest {
  const keys = pathKeys(operation.path);
  const path = keys.reduce((path, key) => path.replace(`{${key}}`, () => segment(input, key)), operation.path);
  const rest = Object.entries(input).filter(([key, value]) => !keys.includes(key) && value !== undefined);
  const { method } = operation;
  if (method === "GET" || method === "DELETE") return { method, target: path + query(rest) };
  return { method, target: path, body: JSON.stringify(Object.fromEntries(rest)) };
}

function segment(input: object, key: string): string {
  const value: unknown = Object.hasOwn(input, key) ? Reflect.get(input, key) : undefined;
  // A URL resolves "." and ".." away: the request would reach another operation.
  if (typeof value !== "string" || ["", ".", ".."].includes(value) || !value.isWellFormed()) {
    throw new AppError("invalid_request", { detail: `${key} is missing or is not an id` });
  }
  return encodeURIComponent(value);
}

function query(entries: readonly (readonly [string, unknown])[]): string {
  const pairs = entries.map(([key, value]): [string, string] => [
    key,
    Array.isArray(value) ? value.join(",") : String(value),
  ]);
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`;
}
