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

/** Of the machine's, or below the home of whoever the session runs as. */
const paths = z
  .array(
    z
      .string()
      .max(4096)
      .regex(/^~?\/[^\0]*$/, "must begin with / or ~/"),
  )
  .max(200);

const settings = {
  interactive_when: z.enum(["viewer", "viewer_with_input"]),
  agents_may_acquire: z
    .boolean()
    .meta({ description: "Whether an agent may act in a session that no person attends or holds" }),
  on_viewer: z
    .enum(["revoke", "safe_interrupt"])
    .meta({ description: "For an agent without a person's grant, when somebody who can type attaches" }),
  agent_may_answer_passwords: z.boolean(),
  while_streaming: z
    .enum(["queue", "reject"])
    .meta({ description: "What becomes of a message from a chat while the program prints" }),
  show_raw_output: z
    .boolean()
    .meta({ description: "In chats: all output in equal widths, also what reads like a message of the agent" }),
  max_interactive_commands: z
    .int()
    .min(1)
    .max(100)
    .meta({ description: "How many of `start_interactive_command` may run at a time" }),
  containment: z.enum(["guard", "open"]).meta({ description: "What an agent's sessions get, where the host can" }),
  grant_open: z
    .enum(["allow", "forbid"])
    .meta({ description: "Whether an agent may drive an `open` session: by a grant, or by itself" }),
  roots: paths.meta({
    description:
      "Where agents may write and delete without asking. Empty: the directory that the shell is in, unless it is the home or above it",
  }),
  guard_hidden: paths.meta({ description: "In the guard: hidden too" }),
  guard_shown: paths.meta({ description: "In the guard: shown, though hidden by default" }),
  guard_read_only: paths.meta({ description: "In the guard: not to be changed" }),
  guard_writable: paths.meta({ description: "In the guard: to be changed, though read-only by default" }),
  guard_network: z.boolean().meta({ description: "In the guard: whether there is any network but its own loopback" }),
};

export const WorkspaceSettings = z.object({
  interactive_when: settings.interactive_when.default("viewer_with_input"),
  agents_may_acquire: settings.agents_may_acquire.default(true),
  on_viewer: settings.on_viewer.default("revoke"),
  agent_may_answer_passwords: settings.agent_may_answer_passwords.default(false),
  while_streaming: settings.while_streaming.default("queue"),
  show_raw_output: settings.show_raw_output.default(false),
  max_interactive_commands: settings.max_interactive_commands.default(1),
  containment: settings.containment.default("guard"),
  grant_open: settings.grant_open.default("allow"),
  roots: settings.roots.default([]),
  guard_hidden: settings.guard_hidden.default([]),
  guard_shown: settings.guard_shown.default([]),
  guard_read_only: settings.guard_read_only.default([]),
  guard_writable: settings.guard_writable.default([]),
  guard_network: settings.guard_network.default(true),
});
export type WorkspaceSettings = z.infer<typeof WorkspaceSettings>;

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
      hostId: z
        .string()
        .min(1)
        .max(128)
        .optional()
        .meta({ description: "Where its new sessions run: a host's id or name" }),
      limits: z
        .strictObject({ maxSessions: z.int().min(1).max(10_000), maxPendingApprovals: z.int().min(1).max(1000) })
        .partial()
        .optional(),
      settings: z.strictObject(settings).partial().optional(),
    }),
    output: Workspace,
    roles: ["operator"],
    errors: ["not_found"],
  }),
} as const;
