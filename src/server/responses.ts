/** Writing answers. Every one carries the headers that keep a browser from doing more with it than we meant. */
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type AppError, ERRORS, problemOf } from "../protocol/errors.ts";

const SAFE_HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy": policyOf("'self'"),
} as const;

function policyOf(styles: string): string {
  return `default-src 'none'; script-src 'self'; style-src ${styles}; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`;
}

/** For the one page whose terminal makes style elements by script. */
export function allowStyles(response: ServerResponse, nonce: string): void {
  response.setHeader("content-security-policy", policyOf(`'self' 'nonce-${nonce}'`));
}

export function setSafeHeaders(response: ServerResponse): void {
  for (const [name, value] of Object.entries(SAFE_HEADERS)) response.setHeader(name, value);
}

export function sendJson(response: ServerResponse, status: number, value: unknown, type = "application/json"): void {
  send(response, status, JSON.stringify(value), type);
}

/** Kept by nobody, unless the answer says already how long it may be. */
export function send(response: ServerResponse, status: number, body: string | Buffer, type: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.statusCode = status;
  response.setHeader("content-type", type);
  if (!response.hasHeader("cache-control")) response.setHeader("cache-control", "no-store");
  response.setHeader("content-length", Buffer.byteLength(body));
  response.end(body);
}

export function sendProblem(response: ServerResponse, error: AppError): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const problem = problemOf(error);
  if (problem.status === 401) response.setHeader("www-authenticate", 'Bearer realm="sidestick"');
  if (problem.status === 429) response.setHeader("retry-after", "1");
  // What is left of a refused body must not be read as the next request.
  if (problem.status === 413 || problem.status === 400) response.setHeader("connection", "close");
  sendJson(response, problem.status, problem, "application/problem+json");
}

/** Of a WebSocket: there is no response yet. */
export function refuseUpgrade(socket: Duplex, error: AppError, more: Readonly<Record<string, string>> = {}): void {
  const body = JSON.stringify(problemOf(error));
  const headers = {
    "content-type": "application/problem+json",
    "content-length": Buffer.byteLength(body),
    connection: "close",
    ...more,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${ERRORS[error.code].http} Refused\r\n${lines.join("")}\r\n${body}`);
}
