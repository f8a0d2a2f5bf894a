/** What a person decides about an agent's plan. Executing never types anything. */
export type PlanDecision = "execute" | "modify" | "cancel";
const PLAN_DECISIONS: readonly PlanDecision[] = ["execute", "modify", "cancel"];

/** What a `plan` event holds: the plan, or what was decided about it. Told again, the plan is undecided again. */
export type PlanTold = {
  readonly planId: string;
  readonly title?: string;
  readonly steps?: readonly string[];
  readonly decision?: PlanDecision;
  readonly by?: string;
};

/** The prompt id under which channels answer plans; which plan is the nonce's to say, what is decided the choice's. */
export const PLAN_PROMPT_ID = "__plan__";

export function planDecisionOf(choice: string): PlanDecision | undefined {
  return PLAN_DECISIONS.find((it) => it === choice);
}

const CANCELLATION = "Cancel the current plan. Do not proceed with these steps.";

export type PlanOutcome =
  | { readonly ok: true; readonly notice: string; readonly line?: string }
  | { readonly ok: false; readonly refusal: "question_open"; readonly notice: string };

/** `asking`: a program waits for an answer, which the cancellation's text would be taken for. */
export function decidePlan(decision: PlanDecision, asking: boolean): PlanOutcome {
  switch (decision) {
    case "execute":
      return { ok: true, notice: "Plan accepted. Agent continuing." };
    case "modify":
      return { ok: true, notice: "Send your modifications as a message." };
    case "cancel":
      if (asking) return { ok: false, refusal: "question_open", notice: "A question is open. Please answer it first." };
      return { ok: true, notice: "Plan cancelled.", line: CANCELLATION };
  }
}
