/** Tokens, tickets and login links. A secret is answered once, when it is made, and is stored only as a hash. */
import { z } from "zod";
import { ROLES } from "../domain/actor.ts";
import { AnyId, Id, Name, Timestamp } from "./common.ts";
import { defineOperation } from "./operation.ts";

export const Token = z.object({
  tokenId: Id,
  kind: z.enum(["token", "cookie"]),
  role: z.enum(ROLES),
  name: z.string(),
  createdAt: Timestamp,
  expiresAt: Timestamp.optional(),
  revokedAt: Timestamp.optional(),
});
export type Token = z.infer<typeof Token>;

const Lifetime = z
  .int()
  .min(1)
  .max(10 * 365 * 86_400);

export const credentialOperations = {
  "token.create": defineOperation({
    name: "token.create",
    summary: "Make a token. The secret is in this answer and nowhere else.",
    method: "POST",
    path: "/tokens",
    status: 201,
    effect: "write",
    input: z.object({
      role: z.enum(ROLES),
      name: Name.meta({ description: "Who will use it; the same name and role is the same actor" }),
      expiresInSeconds: Lifetime.optional(),
    }),
    output: Token.extend({ token: z.string() }),
    roles: ["operator"],
    errors: ["limit_reached"],
    idempotency: "memory",
  }),
  "token.list": defineOperation({
    name: "token.list",
    summary: "List tokens and web logins, without their secrets.",
    method: "GET",
    path: "/tokens",
    effect: "read",
    input: z.object({}),
    output: z.array(Token),
    roles: ["operator"],
  }),
  "token.renew": defineOperation({
    name: "token.renew",
    summary: "Let a token end at another time, counted from now. One that is revoked stays so.",
    method: "POST",
    path: "/tokens/{tokenId}/renew",
    effect: "write",
    input: z.object({ tokenId: AnyId, expiresInSeconds: Lifetime }),
    output: Token,
    roles: ["operator"],
    errors: ["not_found", "invalid_transition"],
  }),
  "token.revoke": defineOperation({
    name: "token.revoke",
    summary: "Make a token useless at once; its open streams are closed.",
    method: "POST",
    path: "/tokens/{tokenId}/revoke",
    effect: "destructive",
    input: z.object({ tokenId: AnyId }),
    output: Token,
    roles: ["operator"],
    errors: ["not_found"],
  }),
  "stream.ticket": defineOperation({
    name: "stream.ticket",
    summary: "A ticket for one WebSocket, valid for 30 seconds, for clients that can't set headers.",
    method: "POST",
    path: "/stream/tickets",
    status: 201,
    effect: "write",
    input: z.object({}),
    output: z.object({ ticket: z.string(), expiresAt: Timestamp }),
    roles: ["operator", "viewer", "agent"],
    errors: ["limit_reached"],
    idempotency: "none",
  }),
  "login.link": defineOperation({
    name: "login.link",
    summary:
      "A link that logs one browser in, once, within ten minutes: as this person, or as somebody who only looks.",
    method: "POST",
    path: "/login/links",
    status: 201,
    effect: "write",
    input: z
      .object({
        role: z.enum(["operator", "viewer"]).default("operator"),
        name: Name.optional().meta({ description: "With `viewer`: who it is for" }),
      })
      .refine((it) => (it.name === undefined) === (it.role === "operator"), {
        message: "name goes with the role `viewer`, and with nothing else",
        path: ["name"],
      }),
    output: z.object({ url: z.url(), expiresAt: Timestamp }),
    roles: ["operator"],
    errors: ["limit_reached"],
    idempotency: "none",
  }),
} as const;
