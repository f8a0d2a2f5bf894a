/** Questions, plans and approvals as they stand in the log. */
import type { AskedPrompt } from "../../src/domain/prompts/asked-prompt.ts";

export const ASKED: AskedPrompt = {
  promptId: "p1",
  sessionId: "s1",
  nonce: "n1",
  status: "pending",
  class: "YES_NO",
  shownAs: "YES_NO",
  confidence: "HIGH",
  question: "Overwrite all files? [y/N]",
  choices: [
    { key: "yes", label: "Yes", types: "y" },
    { key: "no", label: "No", types: "n" },
  ],
  accepts: ["y", "n"],
  entry: "line",
  source: "deterministic",
  disagreement: false,
  escalate: false,
  typing: "by_class",
  kind: "line",
  program: "make",
  askedAt: "2030-01-01T00:00:00.000Z",
  expiresAt: "2030-01-01T00:05:00.000Z",
  feedback: [],
};

/** As `prompt_request` holds it. */
export function offerOf(asked: AskedPrompt) {
  const { sessionId: _session, status: _status, askedAt: _at, feedback: _feedback, ...offer } = asked;
  return { ...offer, choices: offer.choices.map((it) => ({ ...it })) };
}

export const PLAN = { planId: "plan-1", title: "Here is my plan", steps: ["Add a test", "Fix the parser"] };
