/** Every operation's handler: input → one call of a desk → output. */
import type { ActionDesk } from "../../hub/action-desk.ts";
import type { CommandDesk } from "../../hub/command-desk.ts";
import type { ApprovalDesk } from "../../hub/approval-desk.ts";
import type { CredentialDesk } from "../../hub/credential-desk.ts";
import type { HistoryDesk } from "../../hub/history-desk.ts";
import type { HostDesk } from "../../hub/host-desk.ts";
import type { LoginPass, Passes } from "../../hub/passes.ts";
import type { PolicyExplainer } from "../../hub/policy-explainer.ts";
import type { EventLog } from "../../hub/ports.ts";
import type { SessionDesk } from "../../hub/session-desk.ts";
import { bytesOf, type TerminalDesk } from "../../hub/terminal-desk.ts";
import type { WorkspaceDesk } from "../../hub/workspace-desk.ts";
import type { Check } from "../../protocol/hub.ts";
import type { Caller } from "../caller.ts";
import type { Handlers } from "../dispatcher.ts";
import { type ChannelDesks, channelHandlers } from "./channels.ts";
import { commandHandlers } from "./commands.ts";
import { type ControlDesks, controlHandlers, toldControl } from "./control.ts";
import { listEvents } from "./events.ts";
import { historyHandlers } from "./history.ts";
import { overviewHandlers } from "./overview.ts";
import { policyHandlers } from "./policy.ts";
import { conversationHandlers, type PromptDesks, promptHandlers, toldPrompts } from "./prompts.ts";
import { ptyHandlers } from "./pty.ts";

export type Desks = ControlDesks &
  PromptDesks &
  ChannelDesks & {
    readonly log: EventLog;
    readonly sessions: SessionDesk;
    readonly history: HistoryDesk;
    readonly actions: ActionDesk;
    readonly terminals: TerminalDesk;
    readonly commands: CommandDesk;
    readonly approvals: ApprovalDesk;
    readonly workspaces: WorkspaceDesk;
    readonly explainer: PolicyExplainer;
    readonly credentials: CredentialDesk;
    readonly hosts: HostDesk;
    readonly loginCodes: Passes<LoginPass>;
    readonly tickets: Passes<{ readonly tokenId: string | undefined; readonly name: string }>;
  };

export type HubFacts = {
  readonly version: string;
  readonly checks: () => Promise<Check[]>;
  /** Where people reach the hub. */
  readonly publicUrl: () => string;
  readonly places: { readonly url: string; readonly hidden: readonly string[] };
};

export function createHandlers(desks: Desks, facts: HubFacts): Handlers {
  return {
    ...sessionHandlers(desks),
    ...historyHandlers(desks.history),
    ...controlHandlers(desks),
    ...ptyHandlers(desks.terminals),
    ...commandHandlers(desks.commands),
    ...approvalHandlers(desks),
    ...promptHandlers(desks),
    ...conversationHandlers(desks),
    ...channelHandlers(desks),
    ...policyHandlers(desks.explainer),
    ...credentialHandlers(desks, facts),
    ...hostHandlers(desks, facts),
    ...hubHandlers(desks, facts),
    ...overviewHandlers(desks, {
      version: facts.version,
      controlOf: (sessionId) => toldControl(desks.control, sessionId),
      pendingPrompts: () => toldPrompts(desks, "pending"),
    }),
  };
}

function sessionHandlers({ log, sessions, actions, replies, workspaces, hosts }: Desks) {
  return {
    "session.create": (input, { caller }) => sessions.create(input, caller.actor),
    "session.list": (input) =>
      sessions
        .list()
        .filter((it) => input.status === undefined || it.status === input.status)
        .filter((it) => input.conversationId === undefined || it.conversationId === input.conversationId)
        .filter((it) => input.workspaceId === undefined || it.workspaceId === input.workspaceId)
        .slice(-input.limit),
    "session.get": ({ sessionId }) => sessions.get(sessionId),
    "session.pause": ({ sessionId }, { caller }) => sessions.pause(sessionId, caller.actor),
    "session.resume": ({ sessionId }, { caller }) => sessions.resume(sessionId, caller.actor),
    "session.close": ({ sessionId }, { caller }) => sessions.close(sessionId, caller.actor),
    "session.input": async ({ sessionId, notAtShell: forProgram = false, ...input }, { caller }) => {
      const notAtShell = forProgram || caller.actor.kind === "agent";
      const given = { bytes: bytesOf(input), keys: input.keys, by: caller.actor, class: "drive", notAtShell } as const;
      const asked = replies.admit(sessionId, given);
      const { position, bytes } = await actions.type({ session: sessions.get(sessionId), input: asked });
      return { ok: true, bytes, position };
    },
    "event.list": (input, context) => listEvents(log, input, context),
    "snapshot.get": () => ({ sessions: [...sessions.list()], eventCursor: log.head }),
    "workspace.list": () => [...workspaces.list()],
    "workspace.get": ({ workspaceId }) => workspaces.get(workspaceId),
    "workspace.put": ({ hostId, ...rest }, { caller }) => {
      const host = hostId === undefined ? {} : { hostId: hosts.get(hostId).hostId };
      return workspaces.put({ ...rest, ...host }, caller.actor);
    },
  } satisfies Partial<Handlers>;
}

function approvalHandlers({ approvals }: Desks) {
  return {
    "approval.request": (input, { caller }) => approvals.request(input, caller.actor),
    "approval.list": ({ status, sessionId, limit }) =>
      approvals
        .list(status)
        .filter((it) => sessionId === undefined || it.sessionId === sessionId)
        .slice(-limit),
    "approval.get": ({ requestId }) => approvals.get(requestId),
    "approval.wait": ({ requestId, wait_ms: waitMs }, { signal }) =>
      approvals.settled(requestId, AbortSignal.any([signal, AbortSignal.timeout(waitMs)])),
    "approval.resolve": ({ requestId, status, reason, edit }, { caller }) =>
      approvals.resolve(requestId, { status, reason, edit }, caller.actor),
  } satisfies Partial<Handlers>;
}

function credentialHandlers({ credentials, loginCodes, tickets }: Desks, facts: HubFacts) {
  return {
    "token.create": async ({ role, name, expiresInSeconds }, { caller }) => {
      const lifetimeMs = expiresInSeconds === undefined ? undefined : expiresInSeconds * 1000;
      const { token, secret } = await credentials.create({ kind: "token", role, name, lifetimeMs }, caller.actor);
      return { ...token, token: secret };
    },
    "token.list": () => [...credentials.list()],
    "token.renew": ({ tokenId, expiresInSeconds }, { caller }) =>
      credentials.renew(tokenId, expiresInSeconds * 1000, caller.actor),
    "token.revoke": ({ tokenId }, { caller }) => credentials.revoke(tokenId, caller.actor),
    "stream.ticket": (_input, { caller }) => {
      const { secret, expiresAt } = tickets.issue(holderOf(caller), { tokenId: caller.tokenId, name: caller.actor.id });
      return { ticket: secret, expiresAt };
    },
    "login.link": ({ role, name }, { caller }) => {
      const { secret, expiresAt } = loginCodes.issue(holderOf(caller), { role, name: name ?? caller.actor.id });
      return { url: `${facts.publicUrl()}/login#code=${secret}`, expiresAt };
    },
  } satisfies Partial<Handlers>;
}

function hostHandlers({ hosts }: Desks, facts: HubFacts) {
  return {
    "host.list": () => [...hosts.list()],
    "host.get": ({ hostId }) => hosts.get(hostId),
    "host.invite": (input, { caller }) => {
      const { code, expiresAt } = hosts.invite(input, caller.actor);
      const url = facts.publicUrl();
      return { code, expiresAt, url, command: `sidestick host join ${url} --code ${code}` };
    },
    "host.remove": ({ hostId }, { caller }) => hosts.remove(hostId, caller.actor),
  } satisfies Partial<Handlers>;
}

function hubHandlers({ approvals, sessions }: Desks, facts: HubFacts) {
  return {
    "hub.whoami": (_input, { caller }) => ({ role: caller.role, ...caller.actor }),
    "hub.doctor": async () => {
      const checks = await facts.checks();
      return { ok: checks.every((it) => it.state !== "missing" || !it.needed), version: facts.version, checks };
    },
    "hub.places": () => ({ url: facts.places.url, hidden: [...facts.places.hidden] }),
    "hub.reset": async (_input, { caller }) => {
      const ended = await approvals.endAll("reset");
      const closedSessions = await sessions.closeAll(caller.actor, "reset");
      // Once more, for what was asked while the sessions were being closed.
      return { ok: true, closedSessions, endedApprovals: ended + (await approvals.endAll("reset")) };
    },
  } satisfies Partial<Handlers>;
}

function holderOf({ actor }: Caller): string {
  return `${actor.kind}:${actor.id}`;
}
