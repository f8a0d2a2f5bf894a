/** The operation table. Every door is derived from it. */
import { approvalOperations } from "./approvals.ts";
import { channelOperations } from "./channels.ts";
import { commandOperations } from "./commands.ts";
import { controlOperations } from "./control.ts";
import { conversationOperations } from "./conversations.ts";
import { credentialOperations } from "./credentials.ts";
import { eventOperations } from "./events.ts";
import { historyOperations } from "./history.ts";
import { hostOperations } from "./hosts.ts";
import { hubOperations } from "./hub.ts";
import type { InputOf, Operation, OutputOf, ParsedInputOf } from "./operation.ts";
import { overviewOperations } from "./overview.ts";
import { policyOperations } from "./policy.ts";
import { promptOperations } from "./prompts.ts";
import { ptyOperations } from "./pty.ts";
import { sessionOperations } from "./sessions.ts";
import { workspaceOperations } from "./workspaces.ts";

export const OPERATIONS = {
  ...sessionOperations,
  ...historyOperations,
  ...controlOperations,
  ...ptyOperations,
  ...commandOperations,
  ...eventOperations,
  ...approvalOperations,
  ...promptOperations,
  ...conversationOperations,
  ...channelOperations,
  ...policyOperations,
  ...workspaceOperations,
  ...credentialOperations,
  ...hostOperations,
  ...hubOperations,
  ...overviewOperations,
} as const;

export type OperationName = keyof typeof OPERATIONS;

export type Input<N extends OperationName> = InputOf<(typeof OPERATIONS)[N]>;
export type ParsedInput<N extends OperationName> = ParsedInputOf<(typeof OPERATIONS)[N]>;
export type Output<N extends OperationName> = OutputOf<(typeof OPERATIONS)[N]>;

/** Names of operations that answer once. */
export type CallName = Exclude<OperationName, "event.stream" | "session.export">;

export function operation(name: OperationName): Operation {
  return OPERATIONS[name];
}

export const operationNames = Object.keys(OPERATIONS) as readonly OperationName[];

export function toolName(name: OperationName): string {
  const { tool } = operation(name);
  return typeof tool === "string" ? tool : name.replaceAll(".", "_");
}
