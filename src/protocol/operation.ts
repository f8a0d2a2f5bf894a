/**
 * One definition of an operation; HTTP routes, OpenAPI, MCP tools, SDK methods, CLI calls and the reference are
 * read from it (ADR 0002).
 */
import type { z } from "zod";
import type { Role } from "../domain/actor.ts";
import type { ErrorCode } from "./errors.ts";

export type HttpMethod = "GET" | "POST" | "PUT" | "DELETE";

export type Operation<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodType = z.ZodType> = {
  readonly name: string;
  readonly summary: string;
  /** `call` answers once; `stream` goes on until one side ends it; `download` is a file, made while it is read. */
  readonly kind: "call" | "stream" | "download";
  readonly method: HttpMethod;
  /** `{name}` parts are keys of the input. */
  readonly path: string;
  readonly status: 200 | 201;
  readonly effect: "read" | "write" | "destructive";
  readonly input: Input;
  readonly output: Output;
  readonly roles: readonly Role[];
  /** Codes beyond those every operation can answer (`COMMON_ERRORS`). */
  readonly errors: readonly ErrorCode[];
  /**
   * How a repeated Idempotency-Key is answered: `none` for reads, `stored` across restarts, `memory` where the
   * answer holds a secret that must not reach the disk.
   */
  readonly idempotency: "none" | "stored" | "memory";
  /** The largest body that is read for it. */
  readonly bodyLimit: number;
  /** Keys of the input that may hold what a person typed: only their length enters what is kept about a call. */
  readonly secretInput: readonly string[];
  /** The longest a caller waits for an answer. */
  readonly budgetMs: number;
  /** Whether a caller's going away ends the work (`abort`) or not (`finish`). */
  readonly cancellation: "abort" | "finish";
  /** Whether agents get it as an MCP tool; the tool's name is this, or the operation's with underscores. */
  readonly tool: boolean | string;
  /** Inputs that an MCP client means when it leaves them out. */
  readonly toolDefaults: Readonly<Record<string, unknown>>;
};

const BODY_LIMIT = 128 * 1024;
/** Holds 1 MiB of input even when every character of it is written as an escape. */
export const INPUT_BODY_LIMIT = 8 * 1024 * 1024;

export const COMMON_ERRORS = [
  "unauthenticated",
  "forbidden",
  "origin_refused",
  "invalid_request",
  "too_large",
  "storage_unavailable",
  "internal",
] as const satisfies readonly ErrorCode[];

type Given<I extends z.ZodObject, O extends z.ZodType> = Pick<
  Operation<I, O>,
  "name" | "summary" | "method" | "path" | "effect" | "input" | "output" | "roles"
> &
  Partial<Operation<I, O>>;

export function defineOperation<I extends z.ZodObject, O extends z.ZodType>(given: Given<I, O>): Operation<I, O> {
  const reads = given.effect === "read";
  return {
    kind: "call",
    status: 200,
    errors: [],
    idempotency: reads ? "none" : "stored",
    bodyLimit: BODY_LIMIT,
    secretInput: [],
    budgetMs: 10_000,
    cancellation: reads ? "abort" : "finish",
    tool: false,
    toolDefaults: {},
    ...given,
  };
}

export type InputOf<Op> = Op extends Operation<infer I> ? z.input<I> : never;
export type ParsedInputOf<Op> = Op extends Operation<infer I> ? z.output<I> : never;
export type OutputOf<Op> = Op extends Operation<z.ZodObject, infer O> ? z.output<O> : never;

/** The names between braces in a path. */
export function pathKeys(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
}
