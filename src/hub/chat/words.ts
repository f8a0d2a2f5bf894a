/** What went wrong, in words for a chat: without ids, without text of terminals. */
import { AppError, type ErrorCode } from "../../protocol/errors.ts";
import { StorageFailed } from "../ports.ts";

const WORDS: Partial<Record<ErrorCode, string>> = {
  not_found: "No longer there.",
  shell_idle: "The shell is at its prompt: nothing runs that could read this. Nothing was sent.",
  host_offline: "The session's host is away. Nothing was sent.",
  unknown_outcome: "It can't be known whether this was done. Look at the terminal: it is not tried again.",
  storage_unavailable: "It could not be stored, so it was not done.",
  session_paused: "The session is paused.",
};

/** For what is a fault of ours. */
export const OURS = "Something went wrong here. The hub's log says more.";

/** After a restart, or when nobody had answered in time. */
const ANEW = "It was asked anew meanwhile, and nothing was sent. Please answer again.";

/** Undefined: a fault of ours, which is for the log. */
export function wordsOf(error: unknown, nameOf: (actorId: string) => string): string | undefined {
  if (error instanceof StorageFailed) return WORDS.storage_unavailable;
  if (!(error instanceof AppError)) return undefined;
  const { answered_by: answeredBy, resolvedBy, reason } = error.details;
  if (error.code === "prompt_gone") {
    if (typeof answeredBy === "string") return `${nameOf(answeredBy)} answered first.`;
    return reason === "stale_nonce" ? ANEW : "No longer asked.";
  }
  if (error.code === "approval_decided") {
    return typeof resolvedBy === "string" ? `${nameOf(resolvedBy)} decided first.` : "Already decided.";
  }
  return WORDS[error.code] ?? error.message;
}
