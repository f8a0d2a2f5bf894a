/** A question that was put to people: whose answer is taken, and that only one is. Rules PMT-62..PMT-66. */
export type PendingPrompt = {
  readonly promptId: string;
  readonly sessionId: string;
  /** Of this very asking: an old button can't answer a new one. */
  readonly nonce: string;
  readonly expiresAt: number;
  readonly answered: boolean;
};

export const PROMPT_TTL_MS = 300_000;

export type PromptReply = {
  readonly promptId: string;
  readonly sessionId: string;
  readonly nonce: string;
  readonly at: number;
  /** Whether who replies may answer questions of this session. */
  readonly allowed: boolean;
};

export type ReplyRefusal = "not_allowed" | "other_session" | "unknown_prompt" | "stale_nonce" | "answered" | "expired";

/** Undefined: it may go in, once the gate has seen that the question still stands. */
export function refuseReply(pending: PendingPrompt, reply: PromptReply): ReplyRefusal | undefined {
  if (!reply.allowed) return "not_allowed";
  if (reply.sessionId !== pending.sessionId) return "other_session";
  if (reply.promptId !== pending.promptId) return "unknown_prompt";
  if (reply.nonce !== pending.nonce) return "stale_nonce";
  if (pending.answered) return "answered";
  return reply.at >= pending.expiresAt ? "expired" : undefined;
}
