/** Which terminal is whose: each conversation owns one, made by its first command (TRM-1 in docs/spec/pty.md). */
import type { Actor } from "../domain/actor.ts";
import type { Session } from "../domain/session.ts";
import { Turns } from "../lib/turns.ts";
import { AppError } from "../protocol/errors.ts";
import type { SessionDesk } from "./session-desk.ts";
import { DEFAULT_WORKSPACE } from "./workspace-desk.ts";

export class Conversations {
  readonly #sessions: SessionDesk;
  /** Two first calls at once must not make two terminals. */
  readonly #births = new Turns();

  constructor(sessions: SessionDesk) {
    this.#sessions = sessions;
  }

  /** Every terminal it had, oldest first. */
  all(conversationId: string): readonly Session[] {
    const all = this.#sessions.list();
    return all.filter((it) => it.kind === "terminal" && it.conversationId === conversationId);
  }

  find(conversationId: string): Session | undefined {
    return this.all(conversationId).findLast((it) => it.status !== "closed");
  }

  open(conversationId: string): Session {
    const session = this.find(conversationId);
    if (session !== undefined) return session;
    const last = this.all(conversationId).at(-1);
    throw last === undefined ? noTerminal(conversationId) : ended(last);
  }

  /** The one that runs, else the one that ran last: what it said can still be read. */
  known(conversationId: string): Session {
    const session = this.find(conversationId) ?? this.all(conversationId).at(-1);
    if (session === undefined) throw noTerminal(conversationId);
    return session;
  }

  /** `wanted`: its workspace. A new one is where the one before was: what ran elsewhere must not go on here. */
  openOrCreate(conversationId: string, actor: Actor, wanted?: string): Promise<Session> {
    return this.#births.run(conversationId, async () => {
      const session = this.find(conversationId);
      if (session !== undefined) return inWorkspace(session, wanted);
      const workspaceId = wanted ?? this.all(conversationId).at(-1)?.workspaceId ?? DEFAULT_WORKSPACE;
      const config = { kind: "terminal", workspaceId, conversationId, interactive: false } as const;
      return this.#sessions.create({ ...config, title: `terminal of ${titleOf(conversationId)}` }, actor);
    });
  }
}

function inWorkspace(session: Session, wanted: string | undefined): Session {
  const { workspaceId, sessionId, status } = session;
  if (wanted === undefined || wanted === workspaceId) return session;
  const detail = `The conversation's terminal is in the workspace ${workspaceId}, not in ${wanted}: choose another conversation, or close it first`;
  throw new AppError("invalid_transition", { status, id: sessionId, workspaceId, detail });
}

export function noTerminal(conversationId: string): AppError {
  const detail = "This conversation has no terminal yet: the first pty_exec_block or pty_exec_interactive makes it";
  return new AppError("not_found", { what: "terminal", id: conversationId, detail });
}

export function ended({ sessionId, status, reason }: Session): AppError {
  const detail = `The terminal ended (${reason ?? status}); the next command starts a new one`;
  return new AppError("invalid_transition", { status, id: sessionId, detail });
}

function titleOf(conversationId: string): string {
  return conversationId.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "?").slice(0, 100);
}
