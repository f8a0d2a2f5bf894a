/** Sessions on the wire (seed 004): camelCase fields, snake_case enums. */
import { z } from "zod";
import { keyBytes } from "../domain/keys.ts";
import { CONTAINMENTS } from "../domain/containment.ts";
import { COMMAND_FORMS, OLDER_STATUS_NAMES, SESSION_KINDS, SESSION_STATUSES } from "../domain/session.ts";
import { AnyId, enumWithOlder, Id, Limit, Name, Timestamp } from "./common.ts";
import { defineOperation, INPUT_BODY_LIMIT } from "./operation.ts";

export const WorkspaceKind = z.enum(SESSION_KINDS);
export const WorkspaceStatus = z.enum(SESSION_STATUSES);

export const Containment = z
  .enum(CONTAINMENTS)
  .meta({ description: "Where its programs run: in the guard, as another account, or as the person's own" });

export const ContainmentMissing = z
  .array(z.object({ layer: z.string(), reason: z.string(), remedy: z.string().optional() }))
  .meta({ description: "What its guard lacks, or why it has none though it should" });

export const WorkspaceSession = z.object({
  sessionId: Id,
  kind: WorkspaceKind,
  status: WorkspaceStatus,
  ownerAgentId: z.string().optional(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  workspaceId: z.string(),
  hostId: z.string(),
  conversationId: z.string().optional(),
  controllerId: z.string().nullable(),
  interactive: z.boolean(),
  containment: Containment,
  containmentMissing: ContainmentMissing.optional(),
  user: z.string().optional().meta({ description: "With containment `user`: the account" }),
  title: z.string(),
  besideSessionId: z.string().optional().meta({ description: "Of a fresh shell: beside which session it was opened" }),
  command: z
    .enum(COMMAND_FORMS)
    .optional()
    .meta({ description: "It is for one command alone, on a terminal or without one, and ends with it" }),
  reason: z.string().optional().meta({ description: "Why it is closed" }),
  detail: z.string().optional().meta({ description: "With `start_failed`: what went wrong" }),
});
export type WorkspaceSession = z.infer<typeof WorkspaceSession>;

const bySession = z.object({ sessionId: AnyId });

/** The most one call may type. */
export const INPUT_LIMIT = 1024 * 1024;

export const InputPayload = z.object({
  data: z.string().max(INPUT_LIMIT).optional().meta({ description: "Text, sent as UTF-8 exactly as given" }),
  data_b64: z
    .base64()
    .max(Math.ceil(INPUT_LIMIT / 3) * 4)
    .optional()
    .meta({ description: "Bytes, in base64" }),
  keys: z
    .array(z.string().min(1).max(32).refine(isKey, { message: "no such key; see the names in docs/reference" }))
    .min(1)
    .max(1000)
    .optional()
    .meta({ description: "Keys by name: Enter, C-c, M-x, Up, S-Tab, F5 …" }),
});

export const notAtShell = z
  .boolean()
  .optional()
  .meta({ description: "Meant for a program: refused with `shell_idle` at the shell's prompt. Always so for agents" });

export type InputChoice = z.output<typeof InputPayload>;

export const exactlyOneInput = {
  check: ({ data, data_b64, keys }: InputChoice): boolean =>
    [data, data_b64, keys].filter((it) => it !== undefined).length === 1,
  message: "give exactly one of data, data_b64, keys",
};

function isKey(name: string): boolean {
  return keyBytes(name, { applicationCursor: false }) !== undefined;
}

export const sessionOperations = {
  "session.create": defineOperation({
    name: "session.create",
    summary: "Start a session. Answers `created`; it becomes `active` when its driver has it running.",
    method: "POST",
    path: "/sessions",
    status: 201,
    effect: "write",
    input: z
      .object({
        kind: WorkspaceKind,
        workspaceId: z.string().min(1).max(128).default("default"),
        conversationId: z.string().min(1).max(256).optional(),
        interactive: z.boolean().default(false).meta({ description: "A person attends this session" }),
        title: Name.optional(),
        ownerAgentId: z
          .string()
          .min(1)
          .max(128)
          .optional()
          .meta({ description: "The agent it is for; absent: the agent that asks" }),
        containment: z
          .enum(CONTAINMENTS)
          .optional()
          .meta({ description: "Absent: for an agent the guard, as its workspace says; for a person `open`" }),
        user: z
          .string()
          .regex(/^[a-z_][a-z0-9._-]{0,31}\$?$/i, "the name of an account")
          .optional()
          .meta({ description: "With containment `user`: whose account" }),
      })
      .refine((it) => (it.user !== undefined) === (it.containment === "user"), {
        message: "is needed with containment `user`, and goes with nothing else",
        path: ["user"],
      }),
    output: WorkspaceSession,
    roles: ["operator", "agent"],
    errors: ["kind_unavailable", "not_found", "limit_reached", "needs_open", "policy_denied"],
    tool: true,
  }),
  "session.list": defineOperation({
    name: "session.list",
    summary: "List sessions, oldest first; of more than `limit`, the newest.",
    method: "GET",
    path: "/sessions",
    effect: "read",
    input: z.object({
      status: enumWithOlder(SESSION_STATUSES, OLDER_STATUS_NAMES).optional(),
      conversationId: z.string().optional(),
      workspaceId: z.string().optional(),
      limit: Limit,
    }),
    output: z.array(WorkspaceSession),
    roles: ["operator", "viewer", "agent"],
    tool: true,
  }),
  "session.get": defineOperation({
    name: "session.get",
    summary: "Read one session.",
    method: "GET",
    path: "/sessions/{sessionId}",
    effect: "read",
    input: bySession,
    output: WorkspaceSession,
    roles: ["operator", "viewer", "agent"],
    errors: ["not_found"],
    tool: true,
  }),
  "session.pause": defineOperation({
    name: "session.pause",
    summary: "Pause a session: agents' input is refused until a person resumes it; programs run on.",
    method: "POST",
    path: "/sessions/{sessionId}/pause",
    effect: "write",
    input: bySession,
    output: WorkspaceSession,
    roles: ["operator"],
    errors: ["not_found", "invalid_transition"],
  }),
  "session.resume": defineOperation({
    name: "session.resume",
    summary: "Let a paused session go on.",
    method: "POST",
    path: "/sessions/{sessionId}/resume",
    effect: "write",
    input: bySession,
    output: WorkspaceSession,
    roles: ["operator"],
    errors: ["not_found", "invalid_transition"],
  }),
  "session.close": defineOperation({
    name: "session.close",
    summary: "End a session for good. An agent may close only a session that it started.",
    method: "POST",
    path: "/sessions/{sessionId}/close",
    effect: "destructive",
    input: bySession,
    output: WorkspaceSession,
    roles: ["operator", "agent"],
    errors: [
      "not_found",
      "invalid_transition",
      "control_refused",
      "lease_expired",
      "stopped",
      "paused",
      "host_offline",
      "unknown_outcome",
    ],
    tool: true,
  }),
  "session.input": defineOperation({
    name: "session.input",
    summary: "Put input into a session, as whoever the credential says.",
    method: "POST",
    path: "/sessions/{sessionId}/input",
    effect: "write",
    input: bySession
      .extend({ ...InputPayload.shape, notAtShell })
      .refine(exactlyOneInput.check, exactlyOneInput.message),
    output: z.object({ ok: z.literal(true), bytes: z.int(), position: z.int() }),
    roles: ["operator", "agent"],
    errors: ["not_found", "invalid_transition", "session_paused", "shell_idle", "host_offline", "unknown_outcome"],
    bodyLimit: INPUT_BODY_LIMIT,
    secretInput: ["data", "data_b64"],
    tool: true,
  }),
} as const;
