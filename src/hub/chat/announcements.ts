/** Which cards an event adds, changes or ends. It decides nothing else and stores nothing. Rules CHN-4..CHN-8, CHN-18..CHN-20. */
import { isDeepStrictEqual } from "node:util";
import type { Approval, ApprovalAsk, ApprovalVerdict } from "../../domain/approval.ts";
import { decided, isDecided } from "../../domain/channels/cards.ts";
import type { ChatAction } from "../../domain/channels/chat-action.ts";
import { type ConversationEvent, isThread, type Thread } from "../../domain/conversation.ts";
import { type EventType, HUB_STREAM, type StoredEvent } from "../../domain/event.ts";
import { type AskedPrompt, isSecretPrompt, type PromptOffer } from "../../domain/prompts/asked-prompt.ts";
import type { PlanDecision, PlanTold } from "../../domain/prompts/plan-decision.ts";
import type { ApprovalDesk } from "../approval-desk.ts";
import type { ControlDesk } from "../control-desk.ts";
import type { Clock } from "../ports.ts";
import type { PromptDesk } from "../prompt-desk.ts";
import type { SessionDesk } from "../session-desk.ts";
import { ABOUT, type Concern, type Multi } from "./multi.ts";
import type { Outbox } from "./outbox.ts";
import type { NewRow, OutboxChange, OutboxRow } from "./outbox-port.ts";

export type AnnouncementsParts = {
  readonly outbox: Outbox;
  readonly multi: Multi;
  readonly sessions: Pick<SessionDesk, "find" | "list">;
  readonly prompts: Pick<PromptDesk, "find" | "standing">;
  readonly approvals: Pick<ApprovalDesk, "list">;
  readonly control: Pick<ControlDesk, "state">;
  readonly clock: Clock;
  /** The name of a link where a person can type a secret that is asked for; undefined where nobody can. */
  readonly secretLink: (asked: AskedPrompt) => string | undefined;
  /** How people call somebody. */
  readonly nameOf?: ((actorId: string) => string) | undefined;
};

/** What `of` has a word for. */
export const TOLD = [
  "prompt_request",
  "prompt_decision",
  "chat",
  "plan",
  "approval_request",
  "approval_decision",
  "control_handoff",
  "intent",
  "receipt",
  "status",
  "conversation",
] as const satisfies readonly EventType[];

const NO_LONGER = "No longer asked";
const OVER = "The session has ended";

export class Announcements {
  readonly #parts: AnnouncementsParts;

  constructor(parts: AnnouncementsParts) {
    this.#parts = parts;
  }

  of(event: StoredEvent): OutboxChange {
    const { sessionId, payload, timestamp } = event;
    switch (event.type) {
      case "prompt_request":
        return this.#offered(
          { ...(payload as unknown as PromptOffer), ...ASKED, sessionId, askedAt: timestamp },
          event,
        );
      case "prompt_decision":
        return this.#promptDecided(event);
      case "chat":
        return this.#said(event);
      case "plan":
        return this.#plan(event);
      case "approval_request":
        return this.#asked(event);
      case "approval_decision":
        return this.#approvalDecided(event);
      case "control_handoff":
      case "intent":
      case "receipt":
        return this.#control(event);
      case "status":
        return this.#lived(event);
      case "conversation":
        return this.#bound(event);
      default:
        return {};
    }
  }

  /** What is still to be decided and isn't shown there yet. */
  pendingFor(thread: Thread, sessionId?: string): OutboxChange {
    const { sessions, clock } = this.#parts;
    const at = clock.now();
    const open = sessions.list().filter((it) => it.status !== "closed" && (sessionId ?? it.sessionId) === it.sessionId);
    const concerns = open.map((it): Concern => ({ sessionId: it.sessionId, title: it.title, at }));
    const of = sessionId === undefined ? [...concerns, { sessionId: HUB_STREAM, title: "", at }] : concerns;
    const rows = of.flatMap((it) => this.#pending(it));
    return {
      add: rows.filter((row) => isThread(row, thread) && !this.#isShown(row)),
    };
  }

  /** Cards of sessions that nobody knows any more. */
  ofForgotten(): OutboxChange {
    const { outbox, sessions } = this.#parts;
    const rows = outbox.of((it) => sessions.find(it) === undefined).filter(({ about }) => about !== undefined);
    return rows.length === 0 ? {} : both(rows.map((it) => ended(it, OVER)));
  }

  #pending(concern: Concern): readonly NewRow[] {
    const { multi, prompts, approvals, control, secretLink } = this.#parts;
    const { sessionId } = concern;
    const waiting = approvals.list("pending").filter((it) => it.sessionId === sessionId);
    const asked = sessionId === HUB_STREAM ? undefined : prompts.standing(sessionId);
    const request = sessionId === HUB_STREAM ? null : control.state(sessionId).request;
    return [
      ...(asked?.status === "pending" ? multi.sendPrompt(concern, asked, linkFor(asked, secretLink)) : []),
      ...waiting.flatMap((it) => multi.sendApproval(concern, it)),
      ...(request === null ? [] : multi.sendControl(concern, request)),
    ];
  }

  #isShown(row: NewRow): boolean {
    return this.#parts.outbox.about(row.about ?? "").some((it) => isThread(it, row));
  }

  #offered(asked: AskedPrompt, event: Pick<StoredEvent, "sessionId" | "timestamp">): OutboxChange {
    const { multi, secretLink } = this.#parts;
    const rows = multi.sendPrompt(this.#concern(event), asked, linkFor(asked, secretLink));
    return this.#present(ABOUT.prompt(asked.promptId), rows);
  }

  #promptDecided(event: StoredEvent): OutboxChange {
    const { promptId = "", status, by, outcome } = event.payload as PromptTold;
    const about = ABOUT.prompt(promptId);
    if (outcome !== undefined) return this.#letGo(about);
    if (status === "answered") return this.#decide(about, `Answered by ${this.#nameOf(by ?? event.source.id)}`);
    if (status === "gone") return this.#end(about, NO_LONGER);
    // Nothing was typed: whoever looks at it may answer again.
    const asked = this.#parts.prompts.find(promptId);
    return asked?.status === "pending" ? this.#offered(asked, event) : {};
  }

  #said(event: StoredEvent): OutboxChange {
    const { kind, text, promptId, channel, threadId } = event.payload as SaidTold;
    if ((kind !== "feedback" && kind !== "notice") || text === undefined) return {};
    const { multi } = this.#parts;
    const concern = this.#concern(event);
    // Also to one that has left the session: that is often what it is told about.
    if (channel !== undefined && threadId !== undefined) {
      return { add: multi.notifyThread(concern, text, { channel, threadId }) };
    }
    return { add: multi.notify(concern, text, { deciding: promptId !== undefined }) };
  }

  #plan(event: StoredEvent): OutboxChange {
    const { planId, title, steps, decision, by } = event.payload as unknown as PlanTold;
    const about = ABOUT.plan(planId);
    if (decision !== undefined) {
      const words = `${PLAN_WORDS[decision]} by ${this.#nameOf(by ?? "")}`;
      // Where it can't be typed, the same card asks again.
      return decision === "cancel" ? this.#decide(about, words) : this.#end(about, words);
    }
    if (title === undefined || steps === undefined) return {};
    return this.#present(about, this.#parts.multi.sendPlan(this.#concern(event), { planId, title, steps }));
  }

  #asked(event: StoredEvent): OutboxChange {
    const ask = event.payload as unknown as ApprovalAsk;
    const { sessionId, timestamp: requestedAt } = event;
    const approval: Approval = { ...ask, sessionId, requestedAt, status: "pending" };
    return this.#present(ABOUT.approval(ask.requestId), this.#parts.multi.sendApproval(this.#concern(event), approval));
  }

  #approvalDecided({ payload }: StoredEvent): OutboxChange {
    const { requestId, status, resolvedBy, reason, edit } = payload as unknown as ApprovalVerdict & {
      requestId: string;
    };
    const why = reason === undefined ? "" : `: ${reason}`;
    const about = ABOUT.approval(requestId);
    if (status === "expired") return this.#end(about, "Expired: nobody decided in time");
    if (resolvedBy === "system") return this.#end(about, `Ended${why}`);
    const as = edit === undefined ? "" : `, as edited: ${edit.command}`;
    const done = status === "approved" ? "Approved" : "Denied";
    return this.#end(about, `${done} by ${this.#nameOf(resolvedBy)}${as}${why}`);
  }

  /** Each of these events says whether an agent's request stands. */
  #control(event: StoredEvent): OutboxChange {
    const { payload, sessionId } = event;
    const { requested_by: request, change, reason } = payload as ControlTold;
    if (request === undefined) return {};
    const about = ABOUT.control(sessionId);
    if (request !== null) {
      const asked = { agentId: request.agent_id, reason: request.reason };
      const rows = this.#parts.multi.sendControl(this.#concern(event), asked);
      // Who is about to press must not grant it to somebody else than the card names.
      const isOthers = this.#parts.outbox.about(about).some(({ actions }) => !isFor(actions, asked.agentId));
      return isOthers ? { ...this.#end(about, NO_LONGER), add: rows } : this.#present(about, rows);
    }
    const who = this.#nameOf(event.source.id);
    const words = change === "declined" ? `Declined by ${who}` : reason === "granted" ? `Granted by ${who}` : NO_LONGER;
    return this.#end(about, words);
  }

  /** Nobody is bound to what has just begun: homes are told. */
  #lived(event: StoredEvent): OutboxChange {
    const { status, previous } = event.payload;
    if (status === "closed") return this.#closed(event);
    const session = this.#parts.sessions.find(event.sessionId);
    if (status !== "active" || previous !== "created" || session === undefined) return {};
    const { sessionId, kind, ownerAgentId } = session;
    const whose = ownerAgentId === undefined ? "" : ` for ${ownerAgentId}`;
    const text = `A ${kind} session has started${whose}. Talk to it: /use ${sessionId.slice(0, 8)}`;
    return { add: this.#parts.multi.notify(this.#concern(event), text, { deciding: true }) };
  }

  /** Questions and approvals end by events of their own. */
  #closed(event: StoredEvent): OutboxChange {
    const { outbox, multi } = this.#parts;
    const { reason, exitCode } = event.payload as { reason?: string; exitCode?: number };
    const rows = outbox.of((it) => it === event.sessionId).filter(({ about }) => about !== undefined);
    const over = rows.filter(({ about = "", card }) => isDecided(card) || /^(?:plan|control):/.test(about));
    const told = [reason, exitCode === undefined ? undefined : `exit code ${exitCode}`].filter(
      (it) => it !== undefined,
    );
    const text = `${OVER}${told.length === 0 ? "" : ` (${told.join(", ")})`}.`;
    return {
      ...both(over.map((it) => ended(it, OVER))),
      add: multi.notify(this.#concern(event), text, { deciding: true }),
    };
  }

  #bound({ payload }: StoredEvent): OutboxChange {
    const told = payload as unknown as ConversationEvent;
    return told.type === "conversation.bound" ? this.pendingFor(told, told.sessionId) : {};
  }

  /** Where it is shown already it is changed in place. */
  #present(about: string, rows: readonly NewRow[]): OutboxChange {
    const shown = this.#parts.outbox.about(about);
    const [sample] = rows;
    const put = sample === undefined ? [] : shown.flatMap((it) => revised(it, sample));
    return { add: rows.filter((row) => !this.#isShown(row)), put };
  }

  #decide(about: string, words: string): OutboxChange {
    const open = this.#parts.outbox.about(about).filter(({ card }) => !isDecided(card));
    return { put: open.map((it) => ({ ...it, card: decided(it.card, words), state: changed(it) })) };
  }

  /** Nothing more comes of it. */
  #end(about: string, words: string): OutboxChange {
    return both(this.#parts.outbox.about(about).map((it) => ended(it, words)));
  }

  #letGo(about: string): OutboxChange {
    return both(this.#parts.outbox.about(about).map(letGo));
  }

  #concern({ sessionId, timestamp }: Pick<StoredEvent, "sessionId" | "timestamp">): Concern {
    return { sessionId, title: this.#parts.sessions.find(sessionId)?.title ?? "", at: Date.parse(timestamp) };
  }

  #nameOf(actorId: string): string {
    return this.#parts.nameOf?.(actorId) ?? actorId;
  }
}

const ASKED = { status: "pending", feedback: [] } as const;
const PLAN_WORDS = {
  execute: "Accepted",
  modify: "To be modified, said",
  cancel: "Cancelled",
} as const satisfies Record<PlanDecision, string>;

type ControlTold = {
  readonly requested_by?: { readonly agent_id: string; readonly reason: string } | null;
  readonly change?: string;
  readonly reason?: string;
};
type SaidTold = {
  readonly kind?: string;
  readonly text?: string;
  readonly promptId?: string;
  readonly channel?: string;
  readonly threadId?: string;
};
type PromptTold = {
  readonly promptId?: string;
  readonly status?: string;
  readonly by?: string;
  readonly outcome?: string;
};

function linkFor(asked: AskedPrompt, secretLink: AnnouncementsParts["secretLink"]): string | undefined {
  return isSecretPrompt(asked) ? secretLink(asked) : undefined;
}

function isFor(actions: readonly ChatAction[], agentId: string): boolean {
  return actions.every((it) => it.do !== "control" || it.agentId === agentId);
}

/** Where it was shown already it has to be shown anew. */
function changed({ state }: OutboxRow): OutboxRow["state"] {
  return state === "sent" || state === "edit" ? "edit" : "queued";
}

/** A button names its row, not the offer: with the same look there is nothing to show. */
function revised(row: OutboxRow, { card, actions }: NewRow): readonly OutboxRow[] {
  if (isDeepStrictEqual(row.card, card)) return isDeepStrictEqual(row.actions, actions) ? [] : [{ ...row, actions }];
  return [{ ...row, card, actions, state: changed(row) }];
}

function ended(row: OutboxRow, words: string): OutboxRow | number {
  if (row.state === "failed") return row.id;
  if (isDecided(row.card)) return letGo(row);
  return letGo({ ...row, card: decided(row.card, words), state: changed(row) });
}

/** Once it is shown as it is, it goes. */
function letGo(row: OutboxRow): OutboxRow | number {
  const { about: _about, ...rest } = row;
  return row.state === "sent" || row.state === "failed" ? row.id : { ...rest, actions: [] };
}

function both(rows: readonly (OutboxRow | number)[]): OutboxChange {
  return {
    put: rows.filter((it) => typeof it !== "number"),
    drop: rows.filter((it) => typeof it === "number"),
  };
}
