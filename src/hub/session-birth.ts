/** What a session is from its beginning: whose, and where its programs run (GRD-1..GRD-4 in docs/spec/guard.md). */
import type { Actor } from "../domain/actor.ts";
import { decideContainment } from "../domain/containment.ts";
import type { JsonObject } from "../domain/event.ts";
import type { SessionBirth } from "../domain/session.ts";
import { AppError } from "../protocol/errors.ts";
import type { GuardTerms } from "../protocol/link.ts";
import type { ParsedInput } from "../protocol/operations.ts";
import type { Workspace, WorkspaceSettings } from "../protocol/workspaces.ts";
import type { SessionDriver } from "./ports.ts";

export type BirthPlace = {
  readonly sessionId: string;
  readonly workspace: Pick<Workspace, "settings">;
  readonly driver: Pick<SessionDriver, "hostId" | "guard">;
};

/** Throws where a rule refuses it. */
export function birthOf(config: ParsedInput<"session.create">, by: Actor, place: BirthPlace): SessionBirth {
  const { kind, workspaceId, conversationId, interactive, title = kind, user } = config;
  const ownerAgentId = ownerOf(config.ownerAgentId, by);
  return {
    sessionId: place.sessionId,
    kind,
    ...(ownerAgentId === undefined ? {} : { ownerAgentId }),
    workspaceId,
    ...(conversationId === undefined ? {} : { conversationId }),
    interactive,
    ...containmentOf(config.containment, by, place),
    ...(user === undefined ? {} : { user }),
    title,
    hostId: place.driver.hostId,
  };
}

function containmentOf(
  asked: SessionBirth["containment"] | undefined,
  by: Actor,
  { workspace: { settings }, driver }: BirthPlace,
): Pick<SessionBirth, "containment" | "containmentMissing"> {
  const { containment: given, grant_open: openForAgents } = settings;
  const decision = decideContainment({ asked, by, given, openForAgents, ability: driver.guard });
  const missing = decision.missing.map((it) => ({ ...it }));
  if (decision.ok) {
    return { containment: decision.containment, ...(missing.length === 0 ? {} : { containmentMissing: missing }) };
  }
  const { refusal, reason } = decision;
  const details: JsonObject = { reason, ...(missing.length === 0 ? {} : { missing }) };
  throw new AppError(refusal, { ...details, detail: reason[0]!.toUpperCase() + reason.slice(1) });
}

/** A person may start a session for an agent; an agent starts its own. */
function ownerOf(asked: string | undefined, by: Actor): string | undefined {
  if (by.kind !== "agent") return asked;
  if (asked === undefined || asked === by.id) return by.id;
  throw new AppError("forbidden", { detail: "An agent can't start a session for another agent" });
}

/** Whether agents take control by themselves where nobody attends or holds it. */
export function agentsMayAcquire(
  settings: WorkspaceSettings,
  { containment }: Pick<SessionBirth, "containment">,
): boolean {
  return settings.agents_may_acquire && (containment !== "open" || settings.grant_open === "allow");
}

/** `ours`: hidden whatever the workspace says. */
export function guardTerms(settings: WorkspaceSettings, ours: readonly string[]): GuardTerms {
  const { guard_hidden, guard_shown, guard_read_only, guard_writable, guard_network } = settings;
  return {
    hidden: [...guard_hidden, ...ours],
    shown: guard_shown,
    read_only: guard_read_only,
    writable: guard_writable,
    network: guard_network,
  };
}
