/** The command table, in the order of the help. */
import type { Command } from "./command.ts";
import { approvalsGet, approvalsList, approve, deny } from "./commands/approvals.ts";
import { call } from "./commands/call.ts";
import { doctor } from "./commands/doctor.ts";
import { events } from "./commands/events.ts";
import { loginLink } from "./commands/login-link.ts";
import { mcp } from "./commands/mcp.ts";
import { reset } from "./commands/reset.ts";
import {
  sessionsClose,
  sessionsCreate,
  sessionsGet,
  sessionsList,
  sessionsPause,
  sessionsResume,
} from "./commands/sessions.ts";
import { tokenCreate, tokenList, tokenRevoke } from "./commands/token.ts";
import { up } from "./commands/up.ts";
import { workspaces } from "./commands/workspaces.ts";

export const COMMANDS: readonly Command[] = [
  up,
  doctor,
  loginLink,
  sessionsList,
  sessionsCreate,
  sessionsGet,
  sessionsPause,
  sessionsResume,
  sessionsClose,
  events,
  approvalsList,
  approvalsGet,
  approve,
  deny,
  workspaces,
  tokenCreate,
  tokenList,
  tokenRevoke,
  call,
  mcp,
  reset,
];

/** What a bare first word means. */
export const DEFAULTS: Readonly<Record<string, string>> = { sessions: "sessions list", approvals: "approvals list" };
