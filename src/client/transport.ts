/**
 * Speaks HTTP with one hub: address, credential, failures.
 *
 * Whatever goes wrong leaves here as `AppError` (the hub refused), `HubUnreachable` (no answer) or the caller's
 * own abort reason. Rules SDK-1..SDK-8 in docs/spec/client.md.
 */
import { errorFromProblem } from "../protocol/errors.ts";
import type { CallName } from "../protocol/operations.ts";
import { operation } from "../protocol/operations.ts";
import type { CallOptions } from "./calls.ts";
import type { HubRequest } from "./request.ts";
import { requestFor } from "./request.ts";
import { PAGE_KEY_HEADER } from "../protocol/stream.ts";
import { HubUnreachable } from "./unreachable.ts";
import { Unreadable } from "./unreadable.ts";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type TransportOptions = {
  /** The hub's address, with a path if it is served below one. */
  readonly url: string;
  /** Absent in a browser that is logged in by cookie, and on the operator's own socket. */
  readonly token?: string | undefined;
  /** In a browser that is logged in by cookie: what the login gave to the page beside it. */
  readonly pageKey?: (() => string | undefined) | undefined;
  readonly fetch?: Fetch | undefined;
};

/** How much longer than an operation's budget we wait: the hub answers at its budget, the way here takes time. */
const SLACK_MS = 5_000;

export class Transport {
  readonly #base: URL;
  readonly #token: string | undefined;
  readonly #pageKey: () => string | undefined;
  readonly #fetch: Fetch;

  constructor(options: TransportOptions) {
    this.#base = new URL(options.url);
    this.#token = options.token;
    this.#pageKey = options.pageKey ?? (() => undefined);
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
  }

  async send(name: CallName, input: object = {}, options: CallOptions = {}): Promise<unknown> {
    const called = operation(name);
    const headers: Record<string, string> = { accept: "application/json" };
    if (options.idempotencyKey !== undefined) headers["idempotency-key"] = options.idempotencyKey;
    const request = requestFor(called, input);
    const deadline = AbortSignal.timeout(called.budgetMs + SLACK_MS);
    const signal = options.signal === undefined ? deadline : AbortSignal.any([options.signal, deadline]);
    try {
      const response = await this.open(request, headers, signal);
      return await this.#json(response);
    } catch (error) {
      if (options.signal?.aborted === true) throw options.signal.reason;
      throw error;
    }
  }

  /** Resolves with an answer whose body is still to be read; a problem is thrown. */
  async open(request: HubRequest, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const response = await this.#reach(() =>
      this.#fetch(this.#address(request.target), {
        method: request.method,
        headers: { ...headers, ...this.#headersFor(request) },
        ...(request.body === undefined ? {} : { body: request.body }),
        credentials: this.#token === undefined ? "same-origin" : "omit",
        cache: "no-store",
        // The hub never redirects a call; following one would turn a POST into a GET.
        redirect: "error",
        signal,
      }),
    );
    if (response.ok && !isProblem(response)) return response;
    throw errorFromProblem(await this.#problem(response), response.status);
  }

  webSocketUrl(path: string): string {
    const url = new URL(this.#address(path));
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    return url.href;
  }

  #address(target: string): string {
    return this.#base.origin + this.#base.pathname.replace(/\/+$/, "") + target;
  }

  #headersFor(request: HubRequest): Record<string, string> {
    return {
      ...(request.body === undefined ? {} : { "content-type": "application/json" }),
      ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
      ...(this.#token === undefined ? { [PAGE_KEY_HEADER]: this.#pageKey() ?? "1" } : {}),
    };
  }

  async #json(response: Response): Promise<unknown> {
    const text = await this.#reach(() => response.text());
    try {
      return JSON.parse(text) as unknown;
    } catch (cause) {
      throw new Unreadable(`What answers at ${this.#base.origin} is not a Sidestick hub`, { cause });
    }
  }

  /** A proxy may refuse in its own words; the status still says whether a credential would help. */
  async #problem(response: Response): Promise<unknown> {
    const text = await this.#reach(() => response.text());
    if (isProblem(response)) {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        // Falls through: a broken problem is no problem detail.
      }
    }
    const code = STATUS_CODES[response.status];
    return code === undefined ? undefined : { code };
  }

  async #reach<T>(attempt: () => Promise<T>): Promise<T> {
    try {
      return await attempt();
    } catch (cause) {
      throw new HubUnreachable(`No answer from ${this.#base.origin}`, { cause });
    }
  }
}

const STATUS_CODES: Readonly<Record<number, string>> = {
  401: "unauthenticated",
  403: "forbidden",
  404: "not_found",
  413: "too_large",
  429: "limit_reached",
};

function isProblem(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith("application/problem+json") === true;
}
