/**
 * The way out of a guard in which nothing can gain rights: a command that needs them is refused before it runs, and a
 * person is asked whether the conversation goes on in an open session. Rules GRD-15, GRD-22 in docs/spec/guard.md.
 */
import type { Actor } from "../domain/actor.ts";
import type { Approval } from "../domain/approval.ts";
import type { JsonObject } from "../domain/event.ts";
import { needsRights } from "../domain/needs-rights.ts";
import { redactText } from "../domain/redaction/redact-text.ts";
import type { Session } from "../domain/session.ts";
import { Turns } from "../lib/turns.ts";
import { AppError } from "../protocol/errors.ts";
import type { ApprovalDesk } from "./approval-desk.ts";
import type { ControlDesk } from "./control-desk.ts";
import type { Conversations } from "./conversations.ts";
import type { SessionDriver } from "./ports.ts";
import type { SessionDesk } from "./session-desk.ts";
import { notStarted } from "./session-refusals.ts";
import type { WorkspaceDesk } from "./workspace-desk.ts";

export type OpenContinuationParts = {
  readonly approvals: ApprovalDesk;
  readonly control: ControlDesk;
  readonly conversations: Conversations;
  readonly sessions: SessionDesk;
  readonly workspaces: WorkspaceDesk;
  readonly newId: () => string;
};

const RULE = "needs_open";
const LEASE_SECONDS = 600;
/** What a person reads at a glance, and in full. */
const TITLE_LENGTH = 200;
const COMMAND_LENGTH = 4_000;

export class OpenContinuation {
  readonly #parts: OpenContinuationParts;
  /** One question for a session and program, also when two commands come at once. */
  readonly #asking = new Turns();
  /** By conversation: what was approved and is being done. */
  readonly #opening = new Map<string, Promise<unknown>>();

  constructor(parts: OpenContinuationParts) {
    this.#parts = parts;
    parts.approvals.onApproval({
      concerns: ({ rule }) => rule === RULE,
      result: (approval) => this.#result(approval),
      carryOut: (approval, by) => this.#carryOut(approval, by),
    });
  }

  /** A command that follows an approval must find the session that it brought. */
  async settled(conversationId: string): Promise<void> {
    await this.#opening.get(conversationId);
  }

  /** Throws `needs_open` for a command that can't work in this session; an agent's is put before a person. */
  async refuseRights(session: Session, command: string, by: Actor, { guard }: SessionDriver): Promise<void> {
    if (session.containment !== "guard" || guard?.gains_rights === true) return;
    const program = needsRights(command);
    // Who may not act at all hears that from the gate.
    if (program === undefined || !this.#parts.control.mayAct(session.sessionId, by)) return;
    const reason = `${program} can't gain rights inside the guard of this host`;
    throw new AppError(RULE, { program, reason, ...(await this.#wayOut({ session, command, program, reason }, by)) });
  }

  /** Whether an agent's command may be put before a person, to run in an open session. */
  mayOffer(session: Session, by: Actor): boolean {
    return by.kind === "agent" && !this.#isForbidden(session);
  }

  async #wayOut({ session, command, program, reason }: Refused, by: Actor): Promise<JsonObject> {
    if (by.kind !== "agent") return { detail: `${reason}: run it in a session with containment open` };
    if (this.#isForbidden(session)) {
      return { detail: `${reason}, and the workspace lets no agent drive an open session: find a way without it` };
    }
    // Whoever runs it asks, about all that it is bound to.
    if (session.command !== undefined) return {};
    try {
      const { requestId: approvalId } = await this.#asking.run(session.sessionId, () =>
        this.#asked({ session, command, program, reason }, by),
      );
      return { approvalId, detail: `${reason}; a person is asked whether to continue in an open session` };
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "limit_reached") throw error;
      return { detail: `${reason}, and too much waits for a person already to ask for an open session` };
    }
  }

  async #asked({ session, command, program, reason }: Refused, by: Actor): Promise<Approval> {
    const { approvals } = this.#parts;
    const { sessionId, conversationId } = session;
    const pending = approvals.list("pending").find((it) => it.rule === RULE && isAbout(it, { sessionId, program, by }));
    if (pending !== undefined) return pending;
    const shown = redactText(command);
    const action = `Continue in an open session: ${shown.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ")}`.slice(
      0,
      TITLE_LENGTH,
    );
    const payload = {
      program,
      reason,
      command: shown.slice(0, COMMAND_LENGTH),
      ...(conversationId && { conversationId }),
    };
    return approvals.request({ sessionId, kind: "escalation", action, payload }, by, { rule: RULE, riskLevel: "high" });
  }

  /** Settled with the decision, so that the agent learns it from there. */
  #result({ sessionId }: Approval): JsonObject {
    const guarded = this.#parts.sessions.get(sessionId);
    if (this.#isForbidden(guarded)) {
      throw new AppError("policy_denied", { detail: "The workspace lets no agent drive an open session (grant_open)" });
    }
    if (this.#parts.conversations.find(guarded.conversationId ?? "")?.sessionId !== sessionId) {
      throw new AppError("approval_stale", { detail: "The conversation goes on in another session already" });
    }
    return { sessionId: this.#parts.newId() };
  }

  async #carryOut(approval: Approval, by: Actor): Promise<void> {
    const { conversationId = "" } = this.#parts.sessions.get(approval.sessionId);
    const opening = this.#open(approval, by);
    const done = opening.catch(() => undefined);
    this.#opening.set(conversationId, done);
    try {
      await opening;
    } finally {
      if (this.#opening.get(conversationId) === done) this.#opening.delete(conversationId);
    }
  }

  async #open({ sessionId: from, requestedBy, result }: Approval, by: Actor): Promise<void> {
    const { control, sessions } = this.#parts;
    const { sessionId } = result as { readonly sessionId: string };
    const { kind, workspaceId, conversationId, title } = sessions.get(from);
    const { cwd } = (await (await sessions.running(from))?.status(from)) ?? {};
    // Flagged as interactive: in an open session an agent drives by a grant alone, also when this one is over.
    const config = { kind, workspaceId, conversationId, interactive: true, ownerAgentId: requestedBy };
    await sessions.create({ ...config, title: openTitle(title), containment: "open" }, by, { sessionId, cwd });
    if ((await sessions.running(sessionId)) === undefined) throw notStarted(sessions.get(sessionId));
    await control.grant(sessionId, { agentId: requestedBy, leaseSeconds: LEASE_SECONDS, attend: true }, by);
  }

  #isForbidden({ workspaceId }: Session): boolean {
    return this.#parts.workspaces.get(workspaceId).settings.grant_open === "forbid";
  }
}

/** Beside the guarded one in every list. */
function openTitle(title: string): string {
  return `${title.slice(0, TITLE_LENGTH - OPEN.length)}${OPEN}`;
}

const OPEN = " (open)";

type Refused = {
  readonly session: Session;
  readonly command: string;
  readonly program: string;
  readonly reason: string;
};

type Question = { readonly sessionId: string; readonly program: string; readonly by: Actor };

function isAbout({ sessionId, payload, requestedBy }: Approval, question: Question): boolean {
  return sessionId === question.sessionId && payload["program"] === question.program && requestedBy === question.by.id;
}
