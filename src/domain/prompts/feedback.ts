/**
 * What a person is told about an answer, in the seed's exact words. A suppressed value can't get in: nothing has a place for it; of any
 * other one what redaction knows for a secret is masked, because what is told is stored. Rules PMT-41..PMT-44.
 */
import { redactText } from "../redaction/redact-text.ts";
import type { ExecutionPlan } from "./plan-table.ts";

const VALUE_MAX = 200;

/** `taken`: the program went on without Enter; `unfinished`: Enter was not typed, as nobody could tell into what. */
export type Feedback = "sent" | "taken" | "advanced" | "retrying" | "escalated" | "unfinished";

/** `value` as it is shown: the literal, the option's key, the text. Of `sent` before `\r`. */
export function feedbackMessage(kind: Feedback, plan: ExecutionPlan, value: string): string {
  switch (kind) {
    case "sent":
      return filled(plan.displayTemplate, plan, value);
    case "taken":
      return filled(plan.displayTemplate.replace(" + Enter", ""), plan, value);
    case "unfinished":
      return "The answer was typed, but not Enter: the question has changed since. Please respond locally.";
    case "advanced":
      return "CLI advanced";
    case "retrying":
      return filled(plan.retryTemplate, plan, value);
    case "escalated":
      return filled(plan.escalationTemplate, plan, value);
  }
}

/** Masked before it is cut: half a secret isn't known for one. */
function filled(template: string, plan: ExecutionPlan, value: string): string {
  const shown = plan.suppressValue ? "[REDACTED]" : cut(redactText(value));
  return template.replace("{value}", () => shown);
}

function cut(value: string): string {
  const characters = Array.from(value);
  return characters.length <= VALUE_MAX ? value : `${characters.slice(0, VALUE_MAX).join("")}…`;
}
