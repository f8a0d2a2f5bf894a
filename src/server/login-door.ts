/**
 * How a person's browser becomes theirs: a one-time code from the link's fragment (which no server log and no
 * Referer ever sees) is exchanged for a cookie that scripts can't read. Rules SEC-9, SEC-10, SEC-13.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import type { CredentialDesk } from "../hub/credential-desk.ts";
import type { Passes } from "../hub/passes.ts";
import { AppError } from "../protocol/errors.ts";
import { parseWith } from "../protocol/parse.ts";
import type { Authenticator } from "./authenticate.ts";
import { readJson } from "./body.ts";
import type { PublicDoor } from "./http-door.ts";
import { sendJson } from "./responses.ts";

const LOGIN_LIFETIME_MS = 30 * 86_400_000;

/** Nobody has shown a credential yet. */
const LOGIN_BODY_LIMIT = 1024;

const LoginBody = z.strictObject({ code: z.string().max(200) });

export type LoginDoorParts = {
  readonly credentials: CredentialDesk;
  readonly loginCodes: Passes<{ readonly name: string }>;
  readonly authenticator: Authenticator;
  readonly cookie: CookieShape;
};

/**
 * Cookies don't tell ports apart, so the name does: two hubs on one machine must not log each other out. Behind TLS the
 * `__Host-` prefix keeps other hosts of the domain from planting one.
 */
export type CookieShape = { readonly name: string; readonly secure: boolean };

export function cookieShape(port: number, publicUrl: string | undefined): CookieShape {
  const secure = publicUrl?.startsWith("https:") ?? false;
  return { name: secure ? "__Host-sidestick" : `sidestick_${port}`, secure };
}

export function createLoginDoor(parts: LoginDoorParts): PublicDoor {
  return async (request, response, url) => {
    if (request.method !== "POST") return false;
    if (url.pathname === "/login") await login(parts, request, response);
    else if (url.pathname === "/logout") await logout(parts, request, response);
    else return false;
    return true;
  };
}

async function login(parts: LoginDoorParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { code } = parseWith(LoginBody, await readJson(request, LOGIN_BODY_LIMIT));
  const pass = parts.loginCodes.redeem(code);
  if (pass === undefined) {
    throw new AppError("unauthenticated", {
      detail: "This link was used or is over. Make a new one: sidestick login-link",
    });
  }
  const wanted = { kind: "cookie", role: "operator", name: pass.name, lifetimeMs: LOGIN_LIFETIME_MS } as const;
  const { secret } = await parts.credentials.create(wanted, { kind: "person", id: pass.name });
  setCookie(response, parts.cookie, secret, LOGIN_LIFETIME_MS / 1000);
  sendJson(response, 200, { ok: true, name: pass.name });
}

async function logout(parts: LoginDoorParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const caller = parts.authenticator.authenticate(request, { via: "tcp" });
  if (caller.tokenId !== undefined) await parts.credentials.revoke(caller.tokenId, caller.actor);
  setCookie(response, parts.cookie, "", 0);
  sendJson(response, 200, { ok: true });
}

function setCookie(response: ServerResponse, { name, secure }: CookieShape, value: string, maxAgeS: number): void {
  const flags = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeS}${secure ? "; Secure" : ""}`;
  response.setHeader("set-cookie", `${name}=${value}; ${flags}`);
}
