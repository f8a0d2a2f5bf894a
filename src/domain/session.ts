/**
 * The life of a session: created → active ⇄ paused → closed.
 *
 * Nothing follows `closed`. Every transition is one `status` event and the state is the fold of those events, so
 * a replayed session is the live one. Rules in docs/spec/sessions.md.
 */
import type { Containment, MissingLayer } from "./containment.ts";
import type { JsonObject, StoredEvent } from "./event.ts";

export type SessionKind = "terminal" | "browser" | "file" | "desktop";
export const SESSION_KINDS = ["terminal", "browser", "file", "desktop"] as const satisfies readonly SessionKind[];

export type SessionStatus = "created" | "active" | "paused" | "closed";
export const SESSION_STATUSES = ["created", "active", "paused", "closed"] as const satisfies readonly SessionStatus[];

/** The seed's first vocabulary, understood wherever a status is named. */
export const OLDER_STATUS_NAMES = {
  requested: "created",
  running: "active",
  blocked: "active",
  ended: "closed",
  errored: "closed",
} as const satisfies Record<string, SessionStatus>;

/** A session for one command: on a terminal of its own, or without one. */
export const COMMAND_FORMS = ["interactive", "plain"] as const;
export type CommandForm = (typeof COMMAND_FORMS)[number];

/** What a session is from its first event on. */
export type SessionBirth = {
  readonly sessionId: string;
  readonly kind: SessionKind;
  readonly ownerAgentId?: string;
  readonly workspaceId: string;
  readonly hostId: string;
  readonly conversationId?: string;
  readonly interactive: boolean;
  readonly containment: Containment;
  /** What its guard hasn't, or why it has none though it should; absent: nothing. */
  readonly containmentMissing?: MissingLayer[];
  /** With containment `user`: whose account. */
  readonly user?: string;
  readonly title: string;
  /** Of a fresh shell: beside which session it was opened. */
  readonly besideSessionId?: string;
  /** It is for one command alone and ends with it. Absent: it has a shell. */
  readonly command?: CommandForm;
};

export type Session = SessionBirth & {
  readonly status: SessionStatus;
  readonly controllerId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Why it is closed, or what went wrong on the way there. */
  readonly reason?: string;
  /** With `start_failed`: why. */
  readonly detail?: string;
};

export type SessionCommand =
  | { readonly type: "create"; readonly birth: SessionBirth }
  | { readonly type: "activate" }
  | { readonly type: "pause" }
  | { readonly type: "resume" }
  | {
      readonly type: "close";
      readonly reason: string;
      readonly detail?: string | undefined;
      readonly exitCode?: number | undefined;
      readonly signal?: string | undefined;
    };

export type SessionDecision =
  | { readonly ok: true; readonly payload: JsonObject }
  | { readonly ok: false; readonly refusal: "invalid_transition"; readonly from: SessionStatus | "none" };

/** For each command that moves a session: the statuses it may start from, and where it leads. */
const TRANSITIONS = {
  activate: { from: ["created"], to: "active" },
  pause: { from: ["active"], to: "paused" },
  resume: { from: ["paused"], to: "active" },
  close: { from: ["created", "active", "paused"], to: "closed" },
} as const satisfies Record<string, { from: readonly SessionStatus[]; to: SessionStatus }>;

export function decideSession(state: Session | undefined, command: SessionCommand): SessionDecision {
  if (command.type === "create") {
    return state === undefined
      ? { ok: true, payload: { status: "created", session: { ...command.birth } } }
      : { ok: false, refusal: "invalid_transition", from: state.status };
  }
  const rule: { from: readonly SessionStatus[]; to: SessionStatus } = TRANSITIONS[command.type];
  if (state === undefined || !rule.from.includes(state.status)) {
    return { ok: false, refusal: "invalid_transition", from: state?.status ?? "none" };
  }
  return {
    ok: true,
    payload: {
      status: rule.to,
      previous: state.status,
      ...(command.type === "close" ? endOf(command) : {}),
    },
  };
}

function endOf({ reason, detail, exitCode, signal }: Extract<SessionCommand, { type: "close" }>): JsonObject {
  return {
    reason,
    ...(detail === undefined ? {} : { detail }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(signal === undefined ? {} : { signal }),
  };
}

/** Nothing, when the event only says what was decided. */
function driverOf({ holder, interactive }: JsonObject): Partial<Pick<Session, "controllerId" | "interactive">> {
  if (typeof interactive !== "boolean") return {};
  const { id = null } = (holder ?? {}) as { readonly id?: string };
  return { controllerId: id, interactive };
}

/** Folds one recorded `status` or `control_handoff` event. Total: an event that makes no sense leaves the state as it was. */
export function applySession(state: Session | undefined, event: StoredEvent): Session | undefined {
  if (event.type === "control_handoff") return state && { ...state, ...driverOf(event.payload) };
  if (event.type !== "status") return state;
  const { status, session, reason, detail } = event.payload as {
    status?: SessionStatus;
    session?: SessionBirth;
    reason?: string;
    detail?: string;
  };
  if (status === undefined || !SESSION_STATUSES.includes(status)) return state;
  if (state === undefined) {
    if (session === undefined) return undefined;
    return { ...session, status, controllerId: null, createdAt: event.timestamp, updatedAt: event.timestamp };
  }
  const why = { ...(reason === undefined ? {} : { reason }), ...(detail === undefined ? {} : { detail }) };
  return { ...state, status, updatedAt: event.timestamp, ...why };
}
