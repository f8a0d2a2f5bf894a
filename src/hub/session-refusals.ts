/** Why a session doesn't do what it is asked. */
import type { Session } from "../domain/session.ts";
import { AppError } from "../protocol/errors.ts";

/** Nothing was done, and another attempt would end the same. */
export function notStarted({ sessionId, detail, reason = "closed" }: Session): AppError {
  return new AppError("kind_unavailable", { detail: detail ?? `The session did not start (${reason})`, sessionId });
}

export function transitionRefused(session: Session | undefined, command: string): AppError {
  const { status } = session ?? { status: "none" };
  const detail = `Can't ${command} a session that is ${status}`;
  return new AppError("invalid_transition", { status, command, detail });
}

/** A workspace outlives its host. */
export function hostRemoved(kind: Session["kind"], hostId: string, workspaceId: string): AppError {
  const detail = `The host of the workspace ${workspaceId} was removed, so nothing can start there`;
  return new AppError("kind_unavailable", { kind, hostId, workspaceId, detail });
}
