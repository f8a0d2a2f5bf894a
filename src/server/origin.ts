/**
 * Which pages and addresses may talk to the hub. A web page can reach loopback through the visitor's browser; it
 * can't choose the Host it sends (DNS rebinding) nor hide its Origin (cross-site WebSocket). Rules SEC-11..SEC-13.
 */
import type { IncomingMessage } from "node:http";
import { AppError } from "../protocol/errors.ts";
import { PAGE_KEY_HEADER } from "../protocol/stream.ts";

export class OriginGuard {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;

  constructor(port: number, publicUrl: string | undefined) {
    const own = ["127.0.0.1", "localhost", "[::1]"].map((name) => new URL(`http://${name}:${port}`));
    const urls = publicUrl === undefined ? own : [...own, new URL(publicUrl)];
    this.#hosts = new Set(urls.flatMap((url) => [url.host, `${url.hostname}:${url.port || defaultPort(url)}`]));
    this.#origins = new Set(urls.map((url) => url.origin));
  }

  check(request: IncomingMessage): void {
    // Node joins repeated Host headers away; the raw list shows whether there were two.
    const hosts = rawValues(request, "host");
    if (hosts.length !== 1 || !this.#hosts.has((hosts[0] ?? "").toLowerCase())) {
      const shown = (hosts[0] ?? "").slice(0, 100);
      throw new AppError("origin_refused", {
        host: shown,
        detail: `The hub doesn't answer as "${shown}". If people reach it under that address, start it with --public-url`,
      });
    }
    const origins = rawValues(request, "origin");
    if (origins.length === 0) return;
    if (origins.length > 1 || !this.#origins.has(origins[0] ?? "")) {
      throw new AppError("origin_refused", { detail: "Pages of another origin may not use the hub" });
    }
  }

  /**
   * For calls that ride on a cookie: the browser must say that our own page made them. SameSite doesn't tell ports of
   * one machine apart, so every other local server would count as "same site".
   */
  checkCookieCall(request: IncomingMessage): void {
    const site = request.headers["sec-fetch-site"];
    if (site !== undefined && site !== "same-origin" && site !== "none") {
      throw new AppError("origin_refused", { detail: "Another site's page made this request" });
    }
    const opensStream = request.headers.upgrade !== undefined;
    if (opensStream && request.headers.origin === undefined)
      throw new AppError("origin_refused", { detail: "A page must send Origin" });
    if (request.method === "GET" || request.method === "HEAD") return;
    if (request.headers.origin === undefined || request.headers[PAGE_KEY_HEADER] === undefined) {
      throw new AppError("origin_refused", { detail: `A page must send Origin and the header ${PAGE_KEY_HEADER}` });
    }
  }
}

export function rawValues(request: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    if (request.rawHeaders[i]?.toLowerCase() === name) values.push(request.rawHeaders[i + 1] ?? "");
  }
  return values;
}

function defaultPort(url: URL): string {
  return url.protocol === "https:" ? "443" : "80";
}
