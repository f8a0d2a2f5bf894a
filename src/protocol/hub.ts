/** Operations on the hub itself. */
import { z } from "zod";
import { ROLES } from "../domain/actor.ts";
import { defineOperation } from "./operation.ts";

export const Check = z.object({
  name: z.string(),
  state: z.enum(["ready", "degraded", "missing"]),
  needed: z.boolean().meta({ description: "Whether the hub is of no use without it" }),
  detail: z.string(),
  remedy: z.string().optional(),
});
export type Check = z.infer<typeof Check>;

export const hubOperations = {
  "hub.whoami": defineOperation({
    name: "hub.whoami",
    summary: "Who this credential is.",
    method: "GET",
    path: "/whoami",
    effect: "read",
    input: z.object({}),
    output: z.object({ role: z.enum(ROLES), kind: z.enum(["person", "agent", "host", "system"]), id: z.string() }),
    roles: ["operator", "viewer", "agent"],
    tool: true,
  }),
  "hub.doctor": defineOperation({
    name: "hub.doctor",
    summary: "What works here, what does not, and what to do about it.",
    method: "GET",
    path: "/doctor",
    effect: "read",
    input: z.object({}),
    output: z.object({ ok: z.boolean(), version: z.string(), checks: z.array(Check) }),
    roles: ["operator", "viewer"],
  }),
  "hub.places": defineOperation({
    name: "hub.places",
    summary: "Where the hub is reached on its machine, and what of its own a guard hides.",
    method: "GET",
    path: "/places",
    effect: "read",
    input: z.object({}),
    output: z.object({ url: z.url(), hidden: z.array(z.string()) }),
    roles: ["operator"],
  }),
  "hub.reset": defineOperation({
    name: "hub.reset",
    summary: "Close every session and end every pending approval. The log stays and its sequence goes on.",
    method: "POST",
    path: "/reset",
    effect: "destructive",
    input: z.object({}),
    output: z.object({ ok: z.literal(true), closedSessions: z.int(), endedApprovals: z.int() }),
    roles: ["operator"],
  }),
} as const;
