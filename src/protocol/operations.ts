/** The operation table. Every door is derived from it. */
import { approvalOperations } from "./approvals.ts";
import { controlOperations } from "./control.ts";
import { credentialOperations } from "./credentials.ts";
import { eventOperations } from "./events.ts";
import { hubOperations } from "./hub.ts";
import type { InputOf, Operation, OutputOf, ParsedInputOf } from "./operation.ts";
import { ptyOperations } from "./pty.ts";
import { sessionOperations } from "./sessions.ts";
import { workspaceOperations } from "./workspaces.ts";

export const OPERATIONS = {
  ...sessionOperations,
  ...controlOperations,
  ...ptyOperations,
  ...eventOperations,
  ...approvalOperations,
  ...workspaceOperations,
  ...credentialOperations,
  ...hubOperations,
} as const;

export type OperationName = keyof typeof OPERATIONS;

export type Input<N extends OperationName> = InputOf<(typeof OPERATIONS)[N]>;
export type ParsedInput<N extends OperationName> = ParsedInputOf<(typeof OPERATIONS)[N]>;
export type Output<N extends OperationName> = OutputOf<(typeof OPERATIONS)[N]>;

/** Names of operations that answer once. */
export type CallName = Exclude<OperationName, "event.stream">;

export function operation(name: OperationName): Operation {
  return OPERATIONS[name];
}

export const operationNames = Object.keys(OPERATIONS) as readonly OperationName[];

export function toolName(name: OperationName): string {
  return name.replaceAll(".", "_");
}
