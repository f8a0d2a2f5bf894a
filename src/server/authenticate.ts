/**
 * Who a request is from: the credential it carries, and nothing it says about itself. Rules SEC-1, SEC-3.
 */
import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { actorFor, type Actor } from "../domain/actor.ts";
import type { CredentialDesk, Recognised } from "../hub/credential-desk.ts";
import type { Passes } from "../hub/passes.ts";
import { AppError } from "../protocol/errors.ts";
import { PAGE_KEY_HEADER, TICKET_PROTOCOL_PREFIX } from "../protocol/stream.ts";
import type { Caller } from "./caller.ts";
import { type OriginGuard, rawValues } from "./origin.ts";

/** What the listener knows about the connection itself. */
export type Connection = { readonly via: "tcp" } | { readonly via: "operator_socket"; readonly person: string };

export type AuthenticatorParts = {
  readonly credentials: CredentialDesk;
  readonly tickets: Passes<{ readonly tokenId: string | undefined; readonly name: string }>;
  readonly origins: OriginGuard;
  readonly cookieName: string;
  /** What only the page that was logged in can say beside the cookie, by the cookie's id. */
  readonly pageKeyOf: (tokenId: string) => string;
  readonly hubEnds: AbortSignal;
};

export class Authenticator {
  readonly #parts: AuthenticatorParts;

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts;
  }

  /** Checks Host and Origin too: no request passes without. */
  authenticate(request: IncomingMessage, connection: Connection): Caller {
    this.checkAddress(request, connection);
    const tokens = rawValues(request, "authorization");
    if (tokens.length > 0) return this.#byBearer(tokens);
    if (connection.via === "operator_socket") return this.#operator(connection.person);
    const secret = cookieOf(request, this.#parts.cookieName);
    if (secret === undefined) throw unauthenticated("Give a token: Authorization: Bearer …");
    const found = this.#parts.credentials.recognise(secret);
    if (found === undefined || found.credential.kind !== "cookie") throw unauthenticated("This login is over");
    this.#parts.origins.checkCookieCall(request);
    this.#checkPageKey(request, found);
    return callerOf(found);
  }

  /** A WebSocket's opening; a browser may bring a ticket instead of a header. */
  authenticateUpgrade(request: IncomingMessage, connection: Connection): Caller {
    this.checkAddress(request, connection);
    const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((it) => it.trim());
    const ticket = offered.find((it) => it.startsWith(TICKET_PROTOCOL_PREFIX));
    if (ticket === undefined) return this.authenticate(request, connection);
    const pass = this.#parts.tickets.redeem(ticket.slice(TICKET_PROTOCOL_PREFIX.length));
    if (pass === undefined) throw unauthenticated("This ticket is unknown, used or over");
    if (pass.tokenId === undefined) return this.#operator(pass.name);
    const found = this.#parts.credentials.recogniseById(pass.tokenId);
    if (found === undefined) throw unauthenticated("The ticket's credential is over");
    return callerOf(found);
  }

  checkAddress(request: IncomingMessage, connection: Connection): void {
    if (connection.via === "tcp") this.#parts.origins.check(request);
    // No browser reaches a unix socket, so an Origin there is somebody pretending.
    else if (request.headers.origin !== undefined) throw new AppError("origin_refused");
  }

  #byBearer(values: readonly string[]): Caller {
    const match = values.length === 1 ? /^Bearer +([\w-]{1,200})$/i.exec(values[0] ?? "") : null;
    if (match?.[1] === undefined) throw unauthenticated("Authorization must be one: Bearer <token>");
    const found = this.#parts.credentials.recognise(match[1]);
    // A cookie's secret is bound to a browser; as a bearer token it would have left it.
    if (found === undefined || found.credential.kind !== "token")
      throw unauthenticated("This token is unknown, revoked or over");
    return callerOf(found);
  }

  /**
   * Browsers give a cookie to every port of its machine, so that a server which a session's program runs there gets it with the
   * first link that is followed. The key lies in the page's own storage, which no other port reads (WEB-90).
   */
  #checkPageKey(request: IncomingMessage, { credential }: Recognised): void {
    const given = Buffer.from(String(request.headers[PAGE_KEY_HEADER] ?? ""));
    const expected = Buffer.from(this.#parts.pageKeyOf(credential.tokenId));
    if (given.length === expected.length && timingSafeEqual(given, expected)) return;
    throw unauthenticated("This login is of another page: log in anew");
  }

  #operator(person: string): Caller {
    const actor: Actor = { kind: "person", id: person };
    return { actor, role: "operator", tokenId: undefined, revoked: this.#parts.hubEnds };
  }
}

function callerOf({ credential, ended }: Recognised): Caller {
  const { role, name, tokenId } = credential;
  return { actor: actorFor(role, name), role, tokenId, revoked: ended };
}

function cookieOf(request: IncomingMessage, name: string): string | undefined {
  const found = (request.headers.cookie ?? "")
    .split(";")
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`));
  return found.length === 1 ? found[0]?.slice(name.length + 1) : undefined;
}

function unauthenticated(detail: string): AppError {
  return new AppError("unauthenticated", { detail });
}
