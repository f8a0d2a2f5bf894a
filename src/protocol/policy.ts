/** Policy: what applies, and how it would judge something. No operation changes it (POL-15). */
import { z } from "zod";
import { RISK_LEVELS } from "../domain/approval.ts";
import { CONTAINMENTS } from "../domain/containment.ts";
import { ACTION_KINDS } from "../domain/policy/action.ts";
import { DECISIONS, EFFECTS, ON_EXPIRY, PLACES } from "../domain/policy/verdict.ts";
import { AnyId } from "./common.ts";
import { defineOperation } from "./operation.ts";
import { HOW, PolicyFile } from "./policy-file.ts";
import { WorkspaceId } from "./workspaces.ts";

const TEXT_MAX = 65_536;

const ruling = {
  decision: z.enum(DECISIONS),
  riskLevel: z.enum(RISK_LEVELS),
  rule: z.string(),
  reason: z.string(),
};

const TouchShape = z.object({ how: z.enum(HOW), path: z.string(), place: z.enum(PLACES) });

export const PolicyVerdict = z.object({
  ...ruling,
  parts: z.array(
    z.object({
      text: z.string(),
      program: z.string(),
      effects: z.array(z.enum(EFFECTS)),
      touches: z.array(TouchShape),
      ...ruling,
    }),
  ),
  touches: z.array(TouchShape),
  programs: z.array(z.string()).meta({ description: "That would run, as named" }),
  scripts: z.array(z.string()).meta({ description: "Files that would be run, as named" }),
  timeoutMs: z.int().optional(),
  onExpiry: z.enum(ON_EXPIRY),
  policyVersion: z.string(),
});
export type PolicyVerdict = z.infer<typeof PolicyVerdict>;

export const PolicyProblemShape = z.object({
  file: z.string(),
  line: z.int().optional(),
  column: z.int().optional(),
  message: z.string(),
  remedy: z.string(),
});

const Applied = z.object({
  version: z.string(),
  file: z.string().optional().meta({ description: "Absent: there is none" }),
  policy: PolicyFile.meta({ description: "As a file that would say the same by itself" }),
});

export const PolicyState = z.object({
  global: Applied,
  workspaces: z.array(Applied.extend({ workspaceId: WorkspaceId })),
  problems: z.array(PolicyProblemShape).meta({ description: "Of files that were changed and can't be used" }),
});
export type PolicyState = z.infer<typeof PolicyState>;

const ExplainedAction = z.strictObject({
  kind: z.enum(ACTION_KINDS),
  text: z.string().max(TEXT_MAX).optional(),
  argv: z
    .array(z.string().max(TEXT_MAX))
    .min(1)
    .max(1000)
    .optional()
    .meta({ description: "Of a `remote_command`: a program and its words, instead of shell text" }),
});

export const policyOperations = {
  "policy.get": defineOperation({
    name: "policy.get",
    summary: "What policy applies, from which files, and what is wrong with those that were changed.",
    method: "GET",
    path: "/policy",
    effect: "read",
    input: z.object({}),
    output: PolicyState,
    roles: ["operator", "viewer"],
  }),
  "policy.explain": defineOperation({
    name: "policy.explain",
    summary: "How policy would judge a command, part by part. Nothing is run.",
    method: "POST",
    path: "/policy/explain",
    effect: "read",
    input: z.object({
      command: z.string().max(TEXT_MAX).optional().meta({ description: "Shell text; or `action`" }),
      action: ExplainedAction.optional(),
      workspaceId: WorkspaceId.optional(),
      sessionId: AnyId.optional().meta({
        description: "As it would be judged there: workspace, containment, directory",
      }),
      cwd: z.string().max(4096).regex(/^\//, "must be an absolute path").optional(),
      containment: z.enum(CONTAINMENTS).optional(),
    }),
    output: PolicyVerdict,
    roles: ["operator", "viewer", "agent"],
    errors: ["not_found", "limit_reached"],
    tool: true,
  }),
} as const;
