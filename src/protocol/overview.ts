/** What a page needs to begin with, as of one place in the log; from there it follows the events. */
import { z } from "zod";
import { ROLES } from "../domain/actor.ts";
import { ApprovalRequest } from "./approvals.ts";
import { Id, Sequence, Timestamp } from "./common.ts";
import { Control } from "./control.ts";
import { Host } from "./hosts.ts";
import { defineOperation } from "./operation.ts";
import { AskedPrompt } from "./prompts.ts";
import { WorkspaceSession } from "./sessions.ts";

export const FoundPlan = z.object({
  planId: Id,
  sessionId: Id,
  title: z.string(),
  steps: z.array(z.string()),
  foundAt: Timestamp,
  decision: z.enum(["execute", "modify", "cancel"]).optional(),
  decidedBy: z.string().optional(),
});
export type FoundPlan = z.infer<typeof FoundPlan>;

export const Overview = z.object({
  now: Timestamp.meta({ description: "By the hub's clock" }),
  version: z.string(),
  me: z.object({ role: z.enum(ROLES), id: z.string() }),
  eventCursor: Sequence.meta({ description: "The place that all of this reflects" }),
  sessions: z.array(WorkspaceSession).meta({ description: "The open ones, and those that were closed last" }),
  controls: z.array(Control).meta({ description: "Of the open sessions" }),
  approvals: z.array(ApprovalRequest).meta({ description: "Pending" }),
  prompts: z.array(AskedPrompt).meta({ description: "Pending" }),
  plans: z.array(FoundPlan).meta({ description: "Undecided" }),
  hosts: z.array(Host),
});
export type Overview = z.infer<typeof Overview>;

export const overviewOperations = {
  "hub.overview": defineOperation({
    name: "hub.overview",
    summary:
      "Everything that a page begins with: sessions, who drives, what is asked, hosts; and the place in the log.",
    method: "GET",
    path: "/overview",
    effect: "read",
    input: z.object({}),
    output: Overview,
    roles: ["operator", "viewer"],
  }),
} as const;
