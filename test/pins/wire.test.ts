import { expect, test } from "vitest";
import { EVENT_TYPES } from "../../src/domain/event.ts";
import { WorkspaceEvent, WorkspaceSnapshot } from "../../src/protocol/events.ts";
import { ApprovalRequest } from "../../src/protocol/approvals.ts";
import { operation, operationNames, toolName } from "../../src/protocol/operations.ts";
import { WorkspaceKind, WorkspaceSession, WorkspaceStatus } from "../../src/protocol/sessions.ts";

test("[SES-14] the published names stay", () => {
  expect(Object.keys(WorkspaceSession.shape).sort()).toEqual(
    [
      "sessionId",
      "kind",
      "status",
      "ownerAgentId",
      "createdAt",
      "updatedAt",
      "workspaceId",
      "hostId",
      "conversationId",
      "controllerId",
      "interactive",
      "containment",
      "containmentMissing",
      "user",
      "title",
      "besideSessionId",
      "reason",
      "detail",
    ].sort(),
  );
  expect(Object.keys(WorkspaceEvent.shape)).toEqual([
    "sequence",
    "sessionId",
    "type",
    "timestamp",
    "payload",
    "source",
    "position",
    "cursor",
  ]);
  expect(Object.keys(WorkspaceSnapshot.shape)).toEqual(["sessions", "eventCursor"]);
  expect(Object.keys(ApprovalRequest.shape).sort()).toEqual(
    [
      "requestId",
      "sessionId",
      "kind",
      "payload",
      "action",
      "riskLevel",
      "contextHash",
      "requestedAt",
      "timeoutMs",
      "expiresAt",
      "status",
      "approved",
      "reason",
      "resolvedBy",
      "resolvedAt",
      "rule",
      "requestedBy",
      "containment",
      "result",
    ].sort(),
  );
  expect(WorkspaceKind.options).toEqual(["terminal", "browser", "file", "desktop"]);
  expect(WorkspaceStatus.options).toEqual(["created", "active", "paused", "closed"]);
  expect([...EVENT_TYPES].sort()).toEqual(
    [
      "stdout",
      "stderr",
      "prompt",
      "screenshot",
      "dom_snapshot",
      "file_view",
      "log_line",
      "status",
      "control_handoff",
      "approval_request",
      "approval_decision",
      "agent_block_begin",
      "agent_block_delta",
      "agent_block_end",
      "input",
      "keyframe",
      "quiet",
      "redacted",
      "resize",
      "intent",
      "safe_point",
      "plan",
      "chat",
      "receipt",
      "token",
      "workspace",
    ].sort(),
  );
});

test("[HTP-1] routes and tools stay where clients look for them", () => {
  const routes = operationNames.map((name) => {
    const op = operation(name);
    return `${op.method} ${op.path} ${op.status}${op.tool ? ` ${toolName(name)}` : ""}`;
  });

  expect(routes).toEqual([
    "POST /sessions 201 session_create",
    "GET /sessions 200 session_list",
    "GET /sessions/{sessionId} 200 session_get",
    "POST /sessions/{sessionId}/pause 200",
    "POST /sessions/{sessionId}/resume 200",
    "POST /sessions/{sessionId}/close 200 session_close",
    "POST /sessions/{sessionId}/input 200 session_input",
    "GET /sessions/{sessionId}/control 200 control_get",
    "POST /sessions/{sessionId}/user_intent 200",
    "POST /sessions/{sessionId}/control/grant 200",
    "POST /sessions/{sessionId}/control/renew 200 control_renew",
    "POST /sessions/{sessionId}/control/take 200",
    "GET /sessions/{sessionId}/control/changes 200",
    "POST /sessions/{sessionId}/control/release 200 control_release",
    "POST /sessions/{sessionId}/control/request 200 control_request",
    "POST /sessions/{sessionId}/control/decline 200",
    "POST /sessions/{sessionId}/control/wait 200 control_wait",
    "POST /sessions/{sessionId}/agent/safe_point 200 control_safe_point",
    "POST /pty/exec_block 200 pty_exec_block",
    "POST /pty/exec_interactive 200 pty_exec_interactive",
    "POST /pty/send 200 pty_send",
    "POST /pty/ctrl_c 200 pty_ctrl_c",
    "POST /pty/ctrl_d 200 pty_ctrl_d",
    "POST /pty/enter 200 pty_enter",
    "POST /pty/wait_for 200 pty_wait_for",
    "POST /pty/expect_send 200 pty_expect_send",
    "POST /pty/read_output 200 pty_read_output",
    "POST /pty/read_screen 200 pty_read_screen",
    "POST /pty/blocks 200 pty_blocks",
    "POST /pty/status 200 pty_status",
    "POST /pty/end_session 200 pty_end_session",
    "POST /pty/reset 200 pty_reset",
    "POST /pty/resize 200 pty_resize",
    "GET /events 200 event_list",
    "GET /events/stream 200",
    "GET /snapshot 200 snapshot_get",
    "POST /approvals 201 approval_request",
    "GET /approvals 200 approval_list",
    "GET /approvals/{requestId} 200 approval_get",
    "POST /approvals/{requestId}/resolve 200",
    "GET /workspaces 200 workspace_list",
    "GET /workspaces/{workspaceId} 200",
    "PUT /workspaces/{workspaceId} 200",
    "POST /tokens 201",
    "GET /tokens 200",
    "POST /tokens/{tokenId}/renew 200",
    "POST /tokens/{tokenId}/revoke 200",
    "POST /stream/tickets 201",
    "POST /login/links 201",
    "GET /whoami 200 hub_whoami",
    "GET /doctor 200",
    "GET /places 200",
    "POST /reset 200",
  ]);
});
