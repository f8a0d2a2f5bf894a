/**
 * Every failure a caller can see. Adding a row is an API change: pinned in test/pins/errors.test.ts.
 * On HTTP each is a problem detail (RFC 9457); WebSocket, MCP and SDK carry the same `code`.
 */
import type { JsonObject } from "../domain/event.ts";

export const ERRORS = {
  invalid_request: { http: 400, rpc: -32602, message: "The request is not what this operation takes" },
  pattern_refused: { http: 400, rpc: -32602, message: "The pattern is invalid or took too long" },
  unauthenticated: { http: 401, rpc: -32001, message: "No credential, or one that is not valid" },
  forbidden: { http: 403, rpc: -32003, message: "This role may not do that" },
  origin_refused: { http: 403, rpc: -32003, message: "The request comes from a page or address that is not trusted" },
  policy_denied: { http: 403, rpc: -32003, message: "Policy denies this action" },
  approval_rejected: { http: 403, rpc: -32003, message: "A person rejected this action" },
  approval_expired: { http: 403, rpc: -32003, message: "Nobody decided in time; nothing was done" },
  secret_for_person: { http: 403, rpc: -32003, message: "This prompt is for a person to answer" },
  not_found: { http: 404, rpc: -32004, message: "No such thing" },
  invalid_transition: { http: 409, rpc: -32009, message: "That can't follow from the present state" },
  busy: { http: 409, rpc: -32009, message: "A command is running" },
  interactive_active: { http: 409, rpc: -32009, message: "An interactive run is active" },
  shell_idle: { http: 409, rpc: -32009, message: "The shell is idle; run a command instead of sending input" },
  control_refused: { http: 409, rpc: -32009, message: "Control was refused" },
  lease_expired: { http: 409, rpc: -32009, message: "The lease is over" },
  stale_epoch: { http: 409, rpc: -32009, message: "Control changed hands since this input was made" },
  stopped: { http: 409, rpc: -32009, message: "A person stopped the agent" },
  paused: { http: 409, rpc: -32009, message: "The agent is paused" },
  session_paused: { http: 409, rpc: -32009, message: "The session is paused; only a person may act in it" },
  revoked: { http: 409, rpc: -32009, message: "Control was lost during the call" },
  approval_stale: { http: 409, rpc: -32009, message: "What was approved is no longer what would happen" },
  approval_decided: { http: 409, rpc: -32009, message: "Somebody decided first" },
  needs_open: { http: 409, rpc: -32009, message: "This can't work inside the guard" },
  prompt_gone: { http: 409, rpc: -32009, message: "That prompt no longer waits" },
  cursor_expired: { http: 410, rpc: -32010, message: "That part is no longer kept" },
  too_large: { http: 413, rpc: -32013, message: "Too large" },
  limit_reached: { http: 429, rpc: -32029, message: "A limit is reached" },
  approval_pending: { http: 202, rpc: -32020, message: "Waiting for a person's decision" },
  unknown_outcome: {
    http: 502,
    rpc: -32052,
    message: "It can't be known whether this was done; it was not tried again",
  },
  channel_failed: { http: 502, rpc: -32052, message: "The chat platform refused, or can't be reached" },
  kind_unavailable: { http: 503, rpc: -32053, message: "No driver for this kind of session here" },
  host_offline: { http: 503, rpc: -32053, message: "The session's host is away" },
  storage_unavailable: { http: 503, rpc: -32054, message: "It could not be stored, so it was not done" },
  internal: { http: 500, rpc: -32603, message: "A fault of ours" },
} as const satisfies Record<string, { http: number; rpc: number; message: string }>;

export type ErrorCode = keyof typeof ERRORS;

export type AppErrorOptions = ErrorOptions & {
  /** As it was answered, where that is not the table's: a newer hub, a proxy. */
  readonly status?: number;
};

/** A failure a caller can act on. `details` is for programs and holds no terminal text and no secret. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  /** Of HTTP. */
  readonly status: number;
  readonly details: JsonObject;

  constructor(code: ErrorCode, details: JsonObject = {}, options: AppErrorOptions = {}) {
    super(typeof details.detail === "string" ? details.detail : usualDetail(code, details), options);
    this.code = code;
    this.status = options.status ?? ERRORS[code].http;
    this.details = details;
  }
}

function usualDetail(code: ErrorCode, { what, id }: JsonObject): string {
  const isNamed = code === "not_found" && typeof what === "string" && typeof id === "string";
  return isNamed ? `There is no ${what} "${id}"` : ERRORS[code].message;
}

export type Problem = JsonObject & {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: string;
};

export function problemOf(error: AppError): Problem {
  return {
    ...error.details,
    type: `urn:sidestick:error:${error.code}`,
    title: ERRORS[error.code].message,
    status: error.status,
    code: error.code,
    detail: error.message,
  };
}

/** The other way round, for clients: an unknown code of a newer hub stays readable. */
export function errorFromProblem(value: unknown, status: number): AppError {
  const problem = (typeof value === "object" && value !== null ? value : {}) as Partial<Problem>;
  const code = problem.code !== undefined && Object.hasOwn(ERRORS, problem.code) ? problem.code : "internal";
  const { type: _type, title: _title, status: _status, code: _code, ...details } = problem;
  return new AppError(code, { ...details, detail: problem.detail ?? `The hub answered ${status}` }, { status });
}
