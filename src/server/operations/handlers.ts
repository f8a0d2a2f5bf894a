/** Every operation's handler: input → one call of a desk → output. */
import type { ApprovalDesk } from "../../hub/approval-desk.ts";
import type { CredentialDesk } from "../../hub/credential-desk.ts";
import type { Passes } from "../../hub/passes.ts";
import type { EventLog } from "../../hub/ports.ts";
import type { SessionDesk } from "../../hub/session-desk.ts";
import { bytesOf, type TerminalDesk } from "../../hub/terminal-desk.ts";
import type { WorkspaceDesk } from "../../hub/workspace-desk.ts";
import type { Check } from "../../protocol/hub.ts";
import type { Caller } from "../caller.ts";
import type { Handlers } from "../dispatcher.ts";
import { type ControlDesks, controlHandlers } from "./control.ts";
import { listEvents } from "./events.ts";
import { ptyHandlers } from "./pty.ts";

export type Desks = ControlDesks & {
  readonly log: EventLog;
  readonly sessions: SessionDesk;
  readonly terminals: TerminalDesk;
  readonly approvals: ApprovalDesk;
  readonly workspaces: WorkspaceDesk;
  readonly credentials: CredentialDesk;
  readonly loginCodes: Passes<{ readonly name: string }>;
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
    ...controlHandlers(desks),
    ...ptyHandlers(desks.terminals),
    ...approvalHandlers(desks),
    ...credentialHandlers(desks, facts),
    ...hubHandlers(desks, facts),
  };
}

function sessionHandlers({ log, sessions, workspaces }: Desks) {
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
      const asked = { bytes: bytesOf(input), keys: input.keys, by: caller.actor, class: "drive", notAtShell } as const;
      const { position, bytes } = await sessions.input(sessionId, asked);
      return { ok: true, bytes, position };
    },
    "event.list": (input, context) => listEvents(log, input, context),
    "snapshot.get": () => ({ sessions: [...sessions.list()], eventCursor: log.head }),
    "workspace.list": () => [...workspaces.list()],
    "workspace.get": ({ workspaceId }) => workspaces.get(workspaceId),
    "workspace.put": (input, { caller }) => workspaces.put(input, caller.actor),
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
    "approval.resolve": ({ requestId, status, reason }, { caller }) =>
      approvals.resolve(requestId, { status, ...(reason === undefined ? {} : { reason }) }, caller.actor),
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
    "login.link": (_input, { caller }) => {
      const { secret, expiresAt } = loginCodes.issue(holderOf(caller), { name: caller.actor.id });
      return { url: `${facts.publicUrl()}/login#code=${secret}`, expiresAt };
    },
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
