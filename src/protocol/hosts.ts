/** Hosts: the machines on which sessions run. Rules in docs/spec/remote-hosts.md. */
import { z } from "zod";
import { Id, Timestamp } from "./common.ts";
import { GuardAbility, HostFacts } from "./link.ts";
import { defineOperation } from "./operation.ts";
import { WorkspaceId } from "./workspaces.ts";

export const HostName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, "must be lower-case letters, digits, dot, dash, underscore; at most 63");

export const Host = z.object({
  hostId: z.string().meta({ description: "What workspaces and sessions name it by; `local` is the hub's own machine" }),
  name: z.string(),
  online: z.boolean(),
  since: Timestamp.optional().meta({ description: "Since when it is online or offline, as far as that is known" }),
  enrolledAt: Timestamp.optional().meta({ description: "Absent for `local`" }),
  tokenId: Id.optional().meta({ description: "Of its token; absent for `local`" }),
  ...HostFacts.partial().shape,
  guard: GuardAbility.optional().meta({ description: "Absent until it has told" }),
  sessions: z.int().meta({ description: "How many of its sessions are open" }),
});
export type Host = z.infer<typeof Host>;

/** What a host posts to `/hosts/enroll`. */
export const Enrolment = z.strictObject({
  code: z.string().min(1).max(200),
  /** What it wants to be called. */
  name: HostName.optional(),
  /** What it is called where nobody says. */
  hostname: HostName.optional(),
  ...HostFacts.shape,
  guard: GuardAbility.optional(),
});
export type Enrolment = z.infer<typeof Enrolment>;

export const Enrolled = z.object({
  host_id: z.string(),
  name: z.string(),
  token: z.string(),
  /** Of the hub's store: the same as long as its data directory lives. */
  hub_id: z.string(),
});
export type Enrolled = z.infer<typeof Enrolled>;

const hostId = z.string().min(1).max(128).meta({ description: "Its id or its name" });

export const hostOperations = {
  "host.list": defineOperation({
    name: "host.list",
    summary: "List the machines on which sessions run, the hub's own first.",
    method: "GET",
    path: "/hosts",
    effect: "read",
    input: z.object({}),
    output: z.array(Host),
    roles: ["operator", "viewer", "agent"],
  }),
  "host.get": defineOperation({
    name: "host.get",
    summary: "Read one host.",
    method: "GET",
    path: "/hosts/{hostId}",
    effect: "read",
    input: z.object({ hostId }),
    output: Host,
    roles: ["operator", "viewer", "agent"],
    errors: ["not_found"],
  }),
  "host.invite": defineOperation({
    name: "host.invite",
    summary: "A code that lets one machine join as a host, once, within ten minutes.",
    method: "POST",
    path: "/hosts/invites",
    status: 201,
    effect: "write",
    input: z.object({
      name: HostName.optional().meta({ description: "What it will be called; absent: it says so itself" }),
      workspaceId: WorkspaceId.optional().meta({ description: "Whose new sessions run there from then on" }),
    }),
    output: z.object({
      code: z.string(),
      expiresAt: Timestamp,
      url: z.string().meta({ description: "Where the hub is to be reached" }),
      command: z.string().meta({ description: "To be run on the other machine" }),
    }),
    roles: ["operator"],
    errors: ["limit_reached", "invalid_transition"],
    idempotency: "none",
  }),
  "host.remove": defineOperation({
    name: "host.remove",
    summary: "Forget a host: its token is revoked, its link ends, its sessions are closed.",
    method: "POST",
    path: "/hosts/{hostId}/remove",
    effect: "destructive",
    input: z.object({ hostId }),
    output: Host,
    roles: ["operator"],
    errors: ["not_found", "invalid_transition"],
  }),
} as const;
