import { memo, type ReactNode } from "react";
import { shownText } from "../../domain/shown-text.ts";
import type { FoundPlan } from "../../protocol/overview.ts";
import { useAct, useHub, useMayAct } from "../model/use-hub.ts";

type Decision = NonNullable<FoundPlan["decision"]>;

const DECIDED = {
  execute: "Accepted",
  modify: "To be modified",
  cancel: "Cancelled",
} as const satisfies Record<Decision, string>;

export function planText({ decision, decidedBy }: FoundPlan): string {
  return decision === undefined ? "No longer asked" : `${DECIDED[decision]} by ${decidedBy ?? "somebody"}`;
}

/** A plan that an agent has printed. Executing it types nothing; cancelling it types a line. */
export const PlanCard = memo(function PlanCard({
  plan,
  waits,
}: {
  readonly plan: FoundPlan;
  readonly waits: boolean;
}): ReactNode {
  const hub = useHub();
  const mayAct = useMayAct();
  const { isBusy, act } = useAct();
  const { planId: plan_id, title, steps } = plan;
  const resolve = async (decision: Decision): Promise<void> => {
    const decided = await act((client) => client.plan.resolve({ plan_id, decision }));
    if (decided !== undefined) hub.tell(decided.notice);
  };
  const button = (decision: Decision, text: string, className?: string): ReactNode => (
    <button className={className} type="button" disabled={isBusy} onClick={() => void resolve(decision)}>
      {text}
    </button>
  );
  return (
    <>
      <h2>{shownText(title)}</h2>
      <ol className="steps">
        {steps.map((step, at) => (
          <li key={`${at}${step}`}>{shownText(step)}</li>
        ))}
      </ol>
      {!waits && (
        <p className="outcome" role="status">
          <strong>{shownText(planText(plan))}</strong>
        </p>
      )}
      {waits && mayAct && (
        <div className="row">
          {button("execute", "Execute", "main")}
          {button("modify", "Modify")}
          {button("cancel", "Cancel")}
        </div>
      )}
    </>
  );
});
