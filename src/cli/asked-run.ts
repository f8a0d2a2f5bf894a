/** Gives a command to a terminal and, where policy asks a person about it, waits for what they decide (APR-15). */
import { rejectionCode } from "../domain/approval.ts";
import { AppError, type ErrorCode } from "../protocol/errors.ts";
import type { Output } from "../protocol/operations.ts";
import type { ApprovalRequest, SidestickClient } from "../client/sidestick.ts";
import { printable } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

type Begun = Output<"pty.exec_block"> & { readonly session_id?: string };

export async function beginAsked(
  { client, terminal }: { readonly client: SidestickClient; readonly terminal: Terminal },
  begin: () => Promise<Begun>,
): Promise<Begun> {
  for (;;) {
    const asked = await begin().catch(pendingIn);
    if (!("requestId" in asked)) return asked;
    const { requestId, behind } = asked;
    const what = behind ? "Another command of this terminal waits for a person" : "A person is asked to approve this";
    terminal.note(printable(`${what}: sidestick approvals get ${requestId}`));
    const approval = await decided(client, requestId);
    // The one in front is out of the way, however it ended.
    if (behind) continue;
    if (approval.edit !== undefined) terminal.note(printable(`A person changed it: ${approval.edit.command}`));
    return begunBy(approval);
  }
}

type Pending = { readonly requestId: string; readonly behind: boolean };

function pendingIn(error: unknown): Pending {
  if (!(error instanceof AppError) || error.code !== "approval_pending") throw error;
  const { requestId = "", behind = false } = error.details as Partial<Pending>;
  return { requestId, behind };
}

async function decided(client: SidestickClient, requestId: string): Promise<ApprovalRequest> {
  for (;;) {
    const approval = await client.approval.wait({ requestId });
    if (approval.status !== "pending" && approval.result?.["outcome"] !== "taken") return approval;
  }
}

function begunBy({ requestId, status, sessionId, resolvedBy, reason, result }: ApprovalRequest): Begun {
  const told = { requestId, resolvedBy, ...(reason !== undefined && { reason }) };
  if (status === "expired") throw new AppError("approval_expired", told);
  if (status === "rejected") throw new AppError(rejectionCode({ resolvedBy, reason }), told);
  const { outcome, code, changed, blockId, runId, seq, cursor, position, beganAt } = result as Result;
  if (outcome !== "run") throw new AppError(code, { ...told, ...(changed !== undefined && { changed: [...changed] }) });
  const place = { ok: true, workspace_session_id: sessionId, block_id: blockId, cursor, position } as const;
  return {
    ...place,
    seq,
    ts_begin: beganAt,
    approval_id: requestId,
    ...(runId !== undefined && { session_id: runId }),
  };
}

type Result = {
  readonly outcome: string;
  readonly code: ErrorCode;
  readonly changed?: readonly string[];
  readonly blockId: string;
  readonly runId?: string;
  readonly seq: number;
  readonly cursor: number;
  readonly position: number;
  readonly beganAt: number;
};
