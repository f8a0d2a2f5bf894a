/** Input from outside becomes input we trust, or an `invalid_request` that says what is wrong and where. */
import type { z } from "zod";
import { AppError } from "./errors.ts";
import { issueText } from "./issue-text.ts";
import type { Operation } from "./operation.ts";

/** A body of thousands of wrong keys gets no answer of the same size. */
const MAX_ISSUES = 20;

export function parseWith<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.slice(0, MAX_ISSUES).map((issue) => ({
    path: issue.path.join("."),
    message: issueText(issue),
  }));
  const { path = "", message = "" } = errors[0] ?? {};
  throw new AppError("invalid_request", { errors, detail: path === "" ? message : named(path, message) });
}

/** A sentence where the message goes on from the name. */
function named(path: string, message: string): string {
  return `${path}${/^(?:must|is|has) /.test(message) ? "" : ":"} ${message}`;
}

/** One thing that is wrong, for what no schema sees. */
export function invalidRequest(path: string, message: string, options?: ErrorOptions): AppError {
  return new AppError("invalid_request", { errors: [{ path, message }], detail: message }, options);
}

/** Unknown keys are refused: a misspelt option must not be taken for "absent". */
export function parseInput(op: Operation, value: unknown): Record<string, unknown> {
  let schema = strictInputs.get(op);
  if (schema === undefined) {
    schema = op.input.strict();
    strictInputs.set(op, schema);
  }
  return parseWith(schema, value);
}

const strictInputs = new WeakMap<Operation, z.ZodObject>();
