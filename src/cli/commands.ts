/** The command table, in the order of the help. */
import type { Command } from "./command.ts";
import { attach } from "./commands/attach.ts";
import { approvalsGet, approvalsList, approve, deny, edit } from "./commands/approvals.ts";
import { auditTail, auditVerify } from "./commands/audit.ts";
import { call } from "./commands/call.ts";
import { channelsAdd, channelsInvite, channelsList, channelsRemove, channelsTest } from "./commands/channels.ts";
import { chat } from "./commands/chat.ts";
import { control, decline, grant, release, request, take } from "./commands/control.ts";
import { down } from "./commands/down.ts";
import { doctor } from "./commands/doctor.ts";
import { events } from "./commands/events.ts";
import { exportCommand } from "./commands/export.ts";
import { guard } from "./commands/guard.ts";
import { install, uninstall } from "./commands/install.ts";
import { host } from "./commands/host.ts";
import { hostInstall, hostInvite, hostJoin, hostRemove, hosts, hostStatus } from "./commands/hosts.ts";
import { loginLink } from "./commands/login-link.ts";
import { mcp } from "./commands/mcp.ts";
import { policyCheck, policyExplain, policyInit, policySchema, policyShow, policyTest } from "./commands/policy.ts";
import { answer, prompts } from "./commands/prompts.ts";
import { reset } from "./commands/reset.ts";
import { run } from "./commands/run.ts";
import { send } from "./commands/send.ts";
import {
  sessionsClose,
  sessionsCreate,
  sessionsGet,
  sessionsList,
  sessionsPause,
  sessionsResume,
} from "./commands/sessions.ts";
import { interrupt, stop } from "./commands/stop.ts";
import { blocks, end, output, screen, status } from "./commands/terminals.ts";
import { tokenCreate, tokenList, tokenRevoke } from "./commands/token.ts";
import { up } from "./commands/up.ts";
import { wait } from "./commands/wait.ts";
import { workspaces } from "./commands/workspaces.ts";

export const COMMANDS: readonly Command[] = [
  up,
  down,
  doctor,
  loginLink,
  run,
  attach,
  wait,
  send,
  status,
  screen,
  output,
  blocks,
  end,
  exportCommand,
  control,
  grant,
  take,
  release,
  stop,
  interrupt,
  decline,
  request,
  sessionsList,
  sessionsCreate,
  sessionsGet,
  sessionsPause,
  sessionsResume,
  sessionsClose,
  events,
  auditVerify,
  auditTail,
  approvalsList,
  approvalsGet,
  approve,
  deny,
  edit,
  prompts,
  answer,
  chat,
  channelsAdd,
  channelsList,
  channelsInvite,
  channelsTest,
  channelsRemove,
  policyShow,
  policyExplain,
  policyCheck,
  policyTest,
  policyInit,
  policySchema,
  workspaces,
  hosts,
  hostInvite,
  hostRemove,
  hostJoin,
  hostStatus,
  hostInstall,
  tokenCreate,
  tokenList,
  tokenRevoke,
  call,
  mcp,
  guard,
  host,
  install,
  uninstall,
  reset,
];

/** What a bare first word means. */
export const DEFAULTS: Readonly<Record<string, string>> = {
  sessions: "sessions list",
  approvals: "approvals list",
  channels: "channels list",
  policy: "policy show",
};
