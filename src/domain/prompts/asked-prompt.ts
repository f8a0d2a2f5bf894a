/**
 * A question that people can answer, as the log tells it: `prompt_request` offers it, `prompt_decision` says who answered, that it
 * is gone, or what came of the answer. Offered again, it has a new nonce. Rules PMT-100..PMT-113 in docs/spec/prompts.md.
 */
import type { StoredEvent } from "../event.ts";
import type { WaitingKind } from "../waiting.ts";
import type { Fused } from "./fuser.ts";
import type { Prompt, PromptClass } from "./prompt.ts";

export type PromptStatus = "pending" | "answered" | "gone";
export const PROMPT_STATUSES = ["pending", "answered", "gone"] as const satisfies readonly PromptStatus[];

/** `unknown`: it can't be told whether the answer went in. */
export type PromptOutcome = "advanced" | "sent" | "escalated" | "unknown";
export const PROMPT_OUTCOMES = ["advanced", "sent", "escalated", "unknown"] as const satisfies readonly PromptOutcome[];

export type AskedPrompt = Prompt &
  Pick<Fused, "source" | "disagreement" | "escalate" | "typing"> & {
    readonly promptId: string;
    readonly sessionId: string;
    readonly status: PromptStatus;
    readonly nonce: string;
    /** How it is shown, where ML had a word. */
    readonly shownAs: PromptClass;
    readonly kind: WaitingKind;
    readonly program: string;
    readonly askedAt: string;
    readonly expiresAt: string;
    /** The program isn't what its question claims. */
    readonly warning?: string | undefined;
    readonly answeredBy?: string | undefined;
    readonly outcome?: PromptOutcome | undefined;
    readonly feedback: readonly string[];
  };

/** What `prompt_request` holds. */
export type PromptOffer = Omit<AskedPrompt, "sessionId" | "status" | "askedAt" | "answeredBy" | "outcome" | "feedback">;

export function isSecretPrompt(asked: Pick<AskedPrompt, "class" | "shownAs"> | undefined): boolean {
  return asked?.class === "PASSWORD_INPUT" || asked?.shownAs === "PASSWORD_INPUT";
}

export const PROMPT_EVENTS = ["prompt_request", "prompt_decision"] as const;

/** Folds one event; total, and never back from an answer but by `pending`, which says that nothing was typed. */
export function applyPrompt(before: AskedPrompt | undefined, event: StoredEvent): AskedPrompt | undefined {
  const { type, payload, sessionId, timestamp } = event;
  if (type === "prompt_request") {
    const offer = payload as unknown as PromptOffer;
    return { ...offer, sessionId, status: "pending", askedAt: before?.askedAt ?? timestamp, feedback: [] };
  }
  if (type !== "prompt_decision" || before === undefined) return before;
  const { status, by, outcome, feedback = before.feedback } = payload as Decision;
  if (outcome !== undefined) return { ...before, outcome, feedback };
  if (status === "answered") return { ...before, status, answeredBy: by, outcome: undefined };
  if (status === "pending") return { ...before, status, answeredBy: undefined };
  return before.status === "pending" ? { ...before, status: "gone" } : before;
}

type Decision = {
  readonly status?: PromptStatus;
  readonly by?: string;
  readonly outcome?: PromptOutcome;
  readonly feedback?: readonly string[];
};
