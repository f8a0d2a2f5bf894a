/** Workspaces: groups of sessions with their host, limits and settings. */
import { z } from "zod";
import { AnyId, Timestamp } from "./common.ts";
import { defineOperation } from "./operation.ts";

export const WorkspaceId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, "lower-case letters, digits, dot, dash, underscore; at most 64");

export const WorkspaceLimits = z.object({
  maxSessions: z.int().min(1).max(10_000).default(200),
  maxPendingApprovals: z.int().min(1).max(1000).default(20),
});

export const WorkspaceSettings = z.object({
  interactive_when: z.enum(["viewer", "viewer_with_input"]).default("viewer_with_input"),
  /** Whether an agent may act in a session that no person attends or holds. */
  agents_may_acquire: z.boolean().default(true),
  /** What happens to an agent that acts without a person's grant when somebody who can type attaches. */
  on_viewer: z.enum(["revoke", "safe_interrupt"]).default("revoke"),
  agent_may_answer_passwords: z.boolean().default(false),
});

export const Workspace = z.object({
  workspaceId: WorkspaceId,
  hostId: z.string(),
  limits: WorkspaceLimits,
  settings: WorkspaceSettings,
  updatedAt: Timestamp,
});
export type Workspace = z.infer<typeof Workspace>;

export const workspaceOperations = {
  "workspace.list": defineOperation({
    name: "workspace.list",
    summary: "List workspaces.",
    method: "GET",
    path: "/workspaces",
    effect: "read",
    input: z.object({}),
    output: z.array(Workspace),
    roles: ["operator", "viewer", "agent"],
    tool: true,
  }),
  "workspace.get": defineOperation({
    name: "workspace.get",
    summary: "Read one workspace.",
    method: "GET",
    path: "/workspaces/{workspaceId}",
    effect: "read",
    input: z.object({ workspaceId: AnyId }),
    output: Workspace,
    roles: ["operator", "viewer", "agent"],
    errors: ["not_found"],
  }),
  "workspace.put": defineOperation({
    name: "workspace.put",
    summary: "Create a workspace or change its settings; what is left out keeps its value.",
    method: "PUT",
    path: "/workspaces/{workspaceId}",
    effect: "write",
    input: z.object({
      workspaceId: WorkspaceId,
      hostId: z.string().min(1).max(128).optional(),
      limits: z
        .object({ maxSessions: z.int().min(1).max(10_000), maxPendingApprovals: z.int().min(1).max(1000) })
        .partial()
        .optional(),
      settings: z
        .object({
          interactive_when: z.enum(["viewer", "viewer_with_input"]),
          agents_may_acquire: z.boolean(),
          on_viewer: z.enum(["revoke", "safe_interrupt"]),
          agent_may_answer_passwords: z.boolean(),
        })
        .partial()
        .optional(),
    }),
    output: Workspace,
    roles: ["operator"],
  }),
} as const;
