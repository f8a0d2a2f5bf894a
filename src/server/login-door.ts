/**
 * How a person's browser becomes theirs: a one-time code from the link's fragment (which no server log and no
 * Referer ever sees) is exchanged for a cookie that scripts can't read and a key that only the hub's own page can. Rules SEC-9,
 * SEC-10, SEC-13, WEB-90, WEB-91.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import type { CredentialDesk } from "../hub/credential-desk.ts";
import type { LoginPass, Passes } from "../hub/passes.ts";
import { AppError } from "../protocol/errors.ts";
import { parseWith } from "../protocol/parse.ts";
import type { Authenticator } from "./authenticate.ts";
import { readJson } from "./body.ts";
import type { Caller } from "./caller.ts";
import type { PublicDoor } from "./http-door.ts";
import { sendJson } from "./responses.ts";

const LOGIN_LIFETIME_MS = 30 * 86_400_000;

/** Nobody has shown a credential yet. */
const LOGIN_BODY_LIMIT = 1024;

const LoginBody = z.strictObject({ code: z.string().max(200), instead: z.boolean().default(false) });

export type LoginDoorParts = {
  readonly credentials: CredentialDesk;
  readonly loginCodes: Passes<LoginPass>;
  readonly authenticator: Authenticator;
  readonly pageKeyOf: (tokenId: string) => string;
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
  const { code, instead } = parseWith(LoginBody, await readJson(request, LOGIN_BODY_LIMIT));
  const known = parts.loginCodes.find(code);
  if (known !== undefined && !instead) refuseOther(parts, request, known);
  const pass = parts.loginCodes.redeem(code);
  if (pass === undefined) {
    throw new AppError("unauthenticated", {
      detail: "This link was used or is over. Make a new one: sidestick login-link",
    });
  }
  const wanted = { kind: "cookie", role: pass.role, name: pass.name, lifetimeMs: LOGIN_LIFETIME_MS } as const;
  const { secret, token } = await parts.credentials.create(wanted, { kind: "person", id: pass.name });
  setCookie(response, parts.cookie, secret, LOGIN_LIFETIME_MS / 1000);
  sendJson(response, 200, { ok: true, name: pass.name, key: parts.pageKeyOf(token.tokenId) });
}

/** A link that somebody else made would silently take a browser from who decides in it: the person is asked, and the link stays good. */
function refuseOther({ authenticator }: LoginDoorParts, request: IncomingMessage, pass: LoginPass): void {
  const caller = callerOf(authenticator, request);
  if (caller === undefined || (caller.actor.id === pass.name && caller.role === pass.role)) return;
  const detail = `This browser is logged in as ${caller.actor.id} (${caller.role}). The link is for ${pass.name} (${pass.role}).`;
  throw new AppError("invalid_transition", { detail, name: pass.name });
}

function callerOf(authenticator: Authenticator, request: IncomingMessage): Caller | undefined {
  try {
    return authenticator.authenticate(request, { via: "tcp" });
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
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
