/**
 * Whether what somebody wrote can be meant for what stands now. Platforms keep messages while we are away, and questions follow each
 * other: a text answers only a question that its author could have seen, and one that was written for what is over goes nowhere.
 * Rules CNV-29..CNV-31 in docs/spec/conversations.md.
 */
import type { Actor } from "../../domain/actor.ts";
import type { StoredEvent } from "../../domain/event.ts";
import { type AskedPrompt, isSecretPrompt, PROMPT_EVENTS } from "../../domain/prompts/asked-prompt.ts";
import type { BlockDesk } from "../block-desk.ts";
import { follow, type Journal } from "../journal.ts";
import type { Clock } from "../ports.ts";
import type { PromptDesk } from "../prompt-desk.ts";
import type { SessionDesk } from "../session-desk.ts";

export type TimelinessParts = {
  readonly journal: Journal;
  readonly sessions: Pick<SessionDesk, "isOpen">;
  readonly prompts: Pick<PromptDesk, "find">;
  readonly blocks: Pick<BlockDesk, "question">;
  readonly clock: Clock;
};

export type Written = {
  readonly sessionId: string;
  /** At the earliest, by the platform's clock, where that is known. */
  readonly writtenAt?: number | undefined;
  readonly by: Actor;
  readonly nameOf: (actorId: string) => string;
  /** It answers nothing, unless a secret is asked for. */
  readonly isChat: boolean;
};

/** `isSecret`: it may be one. */
export type Refused = { readonly notice: string; readonly isSecret: boolean };

/** Who was told that a message was not sent, and when first. */
type Told = Map<string, number>;

/** A question that is no more: who is late may still answer it. */
type Over = { readonly promptId: string; readonly at: number; readonly by: string | undefined; readonly told: Told };

type Moment = { readonly at: number; readonly now: number };

/** Whatever comes so soon was written for the question, also by who just answered: programs ask again. */
const SURELY_LATE_MS = 5_000;
const MAYBE_LATE_MS = 30_000;

export class Timeliness {
  readonly #parts: TimelinessParts;
  /** Of each session the last. */
  readonly #over = new Map<string, Over>();
  readonly #overSecrets = new Map<string, Over>();
  /** Who was early for the question that stands. */
  readonly #early = new Map<string, Pick<Over, "promptId" | "told">>();

  constructor(parts: TimelinessParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    const { log } = this.#parts.journal;
    await follow(log, PROMPT_EVENTS, (event) => this.#decided(event));
    log.observe((events) => {
      for (const { type, sessionId, payload } of events) {
        if (type !== "status" || payload["status"] !== "closed") continue;
        for (const kept of [this.#over, this.#overSecrets, this.#early]) kept.delete(sessionId);
      }
    });
  }

  /** Why it is told instead of sent; undefined: it may be meant for what stands. */
  refusal(asked: AskedPrompt | undefined, written: Written): Refused | undefined {
    const { sessionId, writtenAt, isChat } = written;
    const now = this.#parts.clock.now();
    const moment = { at: Math.min(now, writtenAt ?? now), now };
    const isSecret = isSecretPrompt(asked);
    const answers = asked !== undefined && (isSecret || !isChat);
    if (answers && this.#isEarly(asked, moment, written.by)) return { notice: isSecret ? EARLIER : UNSEEN, isSecret };
    if (isSecret) return undefined;
    if (this.#parts.blocks.question(sessionId)?.kind === "password") return { notice: UNOFFERED, isSecret: true };
    return this.#lateSecret(moment, written) ?? (answers || isChat ? undefined : this.#late(moment, written));
  }

  /** Whether it may have been written for the last secret that is over. */
  wasForSecret(sessionId: string, writtenAt: number | undefined): boolean {
    const { at } = this.#overSecrets.get(sessionId) ?? {};
    return at !== undefined && (writtenAt ?? this.#parts.clock.now()) - at < MAYBE_LATE_MS;
  }

  #isEarly({ promptId, sessionId, askedAt }: AskedPrompt, moment: Moment, { id }: Actor): boolean {
    if (moment.at > Date.parse(askedAt)) return false;
    const before = this.#early.get(sessionId);
    const told: Told = before?.promptId === promptId ? before.told : new Map();
    if (isHeeded(told, moment, id)) return false;
    this.#early.set(sessionId, { promptId, told });
    tell(told, moment, id);
    return true;
  }

  #lateSecret(moment: Moment, { sessionId, by, nameOf }: Written): Refused | undefined {
    const over = this.#overSecrets.get(sessionId);
    if (over === undefined) return undefined;
    const patience = over.by === by.id ? SURELY_LATE_MS : MAYBE_LATE_MS;
    const maybe = moment.at - over.at < patience && !isHeeded(over.told, moment, by.id);
    if (moment.now - over.at >= SURELY_LATE_MS && !maybe) return undefined;
    tell(over.told, moment, by.id);
    const who = over.by === undefined ? "The secret is no longer asked for." : `${nameOf(over.by)} answered first.`;
    const notice = `${who} In case yours is one too, your message was not sent. Send it again if it isn't.`;
    return { notice, isSecret: true };
  }

  /** Typed now it would answer whatever the program asks next. */
  #late(moment: Moment, { sessionId, by, nameOf }: Written): Refused | undefined {
    const over = this.#over.get(sessionId);
    if (over === undefined || moment.at > over.at || isHeeded(over.told, moment, by.id)) return undefined;
    tell(over.told, moment, by.id);
    const first = over.by === by.id ? "You have answered already." : `${nameOf(over.by ?? "")} answered first.`;
    const who = over.by === undefined ? "The question is no longer asked." : first;
    return { notice: `${who} ${OUTDATED}`, isSecret: false };
  }

  /** Also what was decided before a restart: a platform keeps what was written meanwhile. */
  #decided({ type, sessionId, payload, timestamp }: StoredEvent): void {
    if (type !== "prompt_decision" || payload["outcome"] !== undefined) return;
    const { promptId = "", status, by } = payload as { promptId?: string; status?: string; by?: string };
    const { prompts, sessions } = this.#parts;
    const asked = prompts.find(promptId);
    // Nobody talks to a session that is over, and nothing would forget this again.
    if (asked === undefined || !sessions.isOpen(sessionId)) return;
    const over = isSecretPrompt(asked) ? this.#overSecrets : this.#over;
    if (status === "pending") over.delete(sessionId);
    else if (status === "answered" || over.get(sessionId)?.promptId !== promptId) {
      over.set(sessionId, { promptId, at: Date.parse(timestamp), by, told: new Map() });
    }
  }
}

/**
 * Sent again by somebody who was told. Where a clock is wrong that can't be seen from the time: then what comes a while after it is. What
 * comes at once was kept together with the first.
 */
function isHeeded(told: Told, { at, now }: Moment, id: string): boolean {
  const since = told.get(id);
  return since !== undefined && (at >= since || now - since >= SURELY_LATE_MS);
}

function tell(told: Told, { now }: Moment, id: string): void {
  if (!told.has(id)) told.set(id, now);
}

const EARLIER =
  "Your message was written before this secret was asked for, so it was not sent. Send it again if it answers it.";
const UNSEEN =
  "Your message was written before this question was asked, so it was not sent. Send it again if it answers it.";
const OUTDATED = "Your message was written before that, so it was not sent. Send it again if it is for the program.";
export const UNOFFERED = "A secret is being asked for. Your message was not sent: wait until the question is shown.";
